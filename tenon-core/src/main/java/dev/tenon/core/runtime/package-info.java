/**
 * The public API: choose a {@link dev.tenon.core.runtime.Target}, open a {@link dev.tenon.core.runtime.Engine}, compile
 * a graph to a {@link dev.tenon.core.runtime.CompiledModel}, run it in {@link dev.tenon.core.runtime.Session sessions}.
 *
 * <p>Owns lifetimes, the plan cache and the checks on what users give. Does not own kernels ({@code spi} is what a backend implements).
 */
@NullMarked
package dev.tenon.core.runtime;

import org.jspecify.annotations.NullMarked;
