/**
 * From a graph to a plan: rewrites, fusions and the memory plan. {@link dev.tenon.core.compiler.Compiler} lists the passes in order.
 *
 * <p>Owns everything that is the same for all backends. Does not own kernels, nor which of its tiers a backend takes.
 */
@NullMarked
package dev.tenon.core.compiler;

import org.jspecify.annotations.NullMarked;
