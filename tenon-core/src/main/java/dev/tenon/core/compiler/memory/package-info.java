/**
 * A place for every value of a plan. Greedy, by size over liveness: elementwise results lie over inputs that are not
 * read again, and views over what they view.
 *
 * <p>Owns offsets and the size of the arena; does not own the memory.
 */
@NullMarked
package dev.tenon.core.compiler.memory;

import org.jspecify.annotations.NullMarked;
