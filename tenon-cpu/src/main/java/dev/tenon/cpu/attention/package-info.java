/**
 * Attention and rotary embedding.
 */
@NullMarked
package dev.tenon.cpu.attention;

import org.jspecify.annotations.NullMarked;
