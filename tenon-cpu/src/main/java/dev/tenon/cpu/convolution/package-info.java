/**
 * Convolutions and their transposes.
 *
 * <p>Owns the choice between matrix products, rows and the direct form. Convolutions by constant weights have their
 * channels innermost where the compiler finds that worth the transpositions: the weights are then packed once for the
 * model, and windows are runs of channels. Those of 3x3 cells may go by Winograd's algorithm, whose results are some
 * eight times as far from the exact sums as plain products are; not under {@code Precision.STRICT}.
 */
@NullMarked
package dev.tenon.cpu.convolution;

import org.jspecify.annotations.NullMarked;
