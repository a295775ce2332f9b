/**
 * Attention and rotary embedding.
 */
@NullMarked
package dev.tenon.core.ir.op.attention;

import org.jspecify.annotations.NullMarked;
