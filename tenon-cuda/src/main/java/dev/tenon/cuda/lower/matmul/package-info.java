/**
 * Steps of matrix products. {@code MatMulShape} counts the matrices in the fewest dims and folds a shared weight into
 * one taller product; {@code MatMulChoice} chooses the tier by sizes, types and libraries, without a device.
 */
@NullMarked
package dev.tenon.cuda.lower.matmul;

import org.jspecify.annotations.NullMarked;
