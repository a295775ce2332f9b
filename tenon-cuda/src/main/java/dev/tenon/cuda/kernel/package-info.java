/**
 * Kernels: what files there are and in which variants they compile ({@link dev.tenon.cuda.kernel.KernelCatalog}), compiled and loaded on first use ({@link dev.tenon.cuda.kernel.KernelModules}), and per family how a problem is cut into a
 * launch ({@link dev.tenon.cuda.kernel.RowKernels}).
 *
 * <p>Owns the {@code .cu} sources and every launch shape; does not own streams, memory or the order of launches.
 */
@NullMarked
package dev.tenon.cuda.kernel;

import org.jspecify.annotations.NullMarked;
