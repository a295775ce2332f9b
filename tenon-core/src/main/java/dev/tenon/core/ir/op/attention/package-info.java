/**
 * Attention, rotary embedding, and mixtures of experts.
 */
@NullMarked
package dev.tenon.core.ir.op.attention;

import org.jspecify.annotations.NullMarked;
