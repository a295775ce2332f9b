/**
 * The public API: choose a {@link dev.tenon.core.runtime.Target}, open a {@link dev.tenon.core.runtime.Engine}, compile
 * a graph to a {@link dev.tenon.core.runtime.CompiledModel}, run it in {@link dev.tenon.core.runtime.Session sessions}.
 *
 * <p>Owns lifetimes, the plan cache and the checks on what users give. Does not own kernels ({@code core.backend} is
 * what a backend implements).
 *
 * <p>Runs hold a read lock that {@code close()} takes for writing, so closing waits for runs in flight. A plan is held
 * by its cache and by the runs that use it. The last of them closes the program, which frees the constants that no
 * other program reads. A loop ends a plan: the runtime runs its body, which has plans of its own by shape, and goes on
 * with the results. Opening a device rehearses the life of a small model, since code that is linked while the heap is
 * full fails for the rest of the process.
 */
@NullMarked
package dev.tenon.core.runtime;

import org.jspecify.annotations.NullMarked;
