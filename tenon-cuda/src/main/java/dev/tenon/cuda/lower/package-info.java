/**
 * Turns the nodes of a plan into steps: {@link dev.tenon.cuda.lower.GpuLowering} chooses among the families, one file
 * each. A step is immutable and knows kernels, launch shapes and slots; a {@link dev.tenon.cuda.lower.GpuFrame} brings
 * the memory.
 *
 * <p>Owns which kernel or library call runs a node and why; does not own memory, streams or the order of steps.
 *
 * <p>A step names its tier and why others were passed over. A node without a kernel is a host step: the CPU backend
 * runs it between two copies, and its plan is not recorded. For matrix products, {@code MatMulShape} counts the
 * matrices in the fewest dims and folds a shared weight into one taller product; {@code MatMulChoice} chooses by sizes,
 * types and libraries, without a device. Where nothing compiles generated sources, a region runs on the interpreting
 * kernel.
 */
@NullMarked
package dev.tenon.cuda.lower;

import org.jspecify.annotations.NullMarked;
