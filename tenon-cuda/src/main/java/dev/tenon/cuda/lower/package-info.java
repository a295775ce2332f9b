/**
 * Turns the nodes of a plan into steps: {@link dev.tenon.cuda.lower.GpuLowering} chooses among the families, one
 * package each.
 *
 * <p>Owns which kernel or library call runs a node and why; does not own memory, streams or the order of steps.
 *
 * <p>A step names its tier and why others were passed over. A node without a kernel is a host step: the CPU backend
 * runs it between two copies, and its plan is not recorded.
 */
@NullMarked
package dev.tenon.cuda.lower;

import org.jspecify.annotations.NullMarked;
