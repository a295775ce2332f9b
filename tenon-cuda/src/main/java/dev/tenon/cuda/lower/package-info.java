/**
 * Turns the nodes of a plan into steps: {@link dev.tenon.cuda.lower.GpuLowering} chooses among the families, a file each. A step is immutable and knows kernels, launch shapes and slots; a {@link dev.tenon.cuda.lower.GpuFrame} brings the memory.
 *
 * <p>Owns which kernel or library call runs a node and why; does not own memory, streams or the order of steps.
 */
@NullMarked
package dev.tenon.cuda.lower;

import org.jspecify.annotations.NullMarked;
