/**
 * The GPU platform as the runtime sees it: a backend opens devices, a device holds weights and makes programs, a
 * session's memory and stream run them.
 *
 * <p>Owns memory, streams, copies and the order of steps; which kernel a step launches is {@code lower}'s.
 *
 * <p>A session has four regions of memory that grow to the largest plan: inputs and outputs, activations by the memory
 * plan, workspace, counters. Every value has one address for the life of a session and plan, so work can be recorded:
 * the first run goes step by step, the second records, later ones replay. Host steps stay between what is recorded.
 * Inputs and outputs go through pinned memory in one copy each way, or stay on the device; small inputs there reach a
 * recorded plan in one launch. Where they come back to the same addresses, a recording for just these has no copies, or
 * has them within. A run returns when the device has done it. Kernels report values without a result into
 * a word of faults in the host's memory, which becomes an exception that names the node.
 */
@NullMarked
package dev.tenon.cuda.backend;

import org.jspecify.annotations.NullMarked;
