/**
 * What a step of a plan is, what it sees when it runs, and what its lowering may ask.
 *
 * <p>A {@link dev.tenon.cuda.lower.step.GpuStep} is immutable and knows kernels, launch shapes and slots; a {@link
 * dev.tenon.cuda.lower.step.GpuFrame} brings the memory. Owns no operation.
 */
@NullMarked
package dev.tenon.cuda.lower.step;

import org.jspecify.annotations.NullMarked;
