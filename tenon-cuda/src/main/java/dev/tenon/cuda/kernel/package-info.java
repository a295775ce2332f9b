/**
 * Kernels: the files and the variants in which they compile ({@link dev.tenon.cuda.kernel.KernelCatalog}), compiled and
 * loaded on first use ({@link dev.tenon.cuda.kernel.KernelModules}), and per family how a problem is cut into a launch
 * ({@link dev.tenon.cuda.kernel.RowKernels}).
 *
 * <p>Owns every launch shape; does not own streams, memory or the order of launches.
 *
 * <p>One variant of one file is one module. The kernels of a plan are noted while its steps are made and then compiled
 * side by side, one per core. Only {@code tenon.cuh} and its parts
 * touch the hardware, and {@code copy_engine.cuh} and {@code wgmma.cuh} what compute capability 9.0 has.
 *
 * <p>Softmax, log-softmax, LayerNorm and RmsNorm share four skeletons: {@code row_warp.cuh}, a row in the registers of
 * a warp; {@code row_team.cuh}, in those of a block or of a cluster of blocks; {@code row_block.cuh}, longer rows in
 * the registers and shared memory of one or several blocks; {@code row_strided.cuh}, other axes. A rule ({@code
 * softmax_rule.cuh}, {@code norm_rules.cuh}) says what is folded along a row. {@code RowPlan} picks the skeleton by
 * sizes and a model of time, without a device.
 */
@NullMarked
package dev.tenon.cuda.kernel;

import org.jspecify.annotations.NullMarked;
