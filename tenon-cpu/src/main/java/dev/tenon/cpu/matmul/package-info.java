/**
 * Matrix products of every type, batched and grouped.
 *
 * <p>Owns blocking and the packing of weights; the micro-kernel is one of the {@code loops}.
 */
@NullMarked
package dev.tenon.cpu.matmul;

import org.jspecify.annotations.NullMarked;
