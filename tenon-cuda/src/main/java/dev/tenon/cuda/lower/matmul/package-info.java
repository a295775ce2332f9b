/**
 * Steps of matrix products. {@code MatMulShape} counts the matrices in the fewest dims and folds a shared weight into
 * one taller product; {@code MatMulChoice} chooses the tier by sizes, types and libraries, without a device.
 *
 * <p>Our own kernels have a plan each: {@code MmaPlan} cuts products on tensor cores into tiles and shares of k by a
 * model of time, {@code GemvPlan} those of few rows so that the weight is read at memory's rate. Both are pure
 * arithmetic. Groups of rows find their tiles on the device.
 */
@NullMarked
package dev.tenon.cuda.lower.matmul;

import org.jspecify.annotations.NullMarked;
