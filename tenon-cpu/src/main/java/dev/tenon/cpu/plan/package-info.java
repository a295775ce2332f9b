/**
 * From a compiled plan to a program that runs: a lowering for each primitive, slots, prepared constants, a session's
 * memory.
 *
 * <p>The one place that knows every family. Does not own what a step does. Constants are prepared once per model,
 * whatever the number of plans. Only custom operations without a body of the CPU run by their reference.
 */
@NullMarked
package dev.tenon.cpu.plan;

import org.jspecify.annotations.NullMarked;
