/**
 * The arithmetic of reductions over ranks.
 *
 * <p>Owns the loops, the types that elements are kept in on the way, and the one rounding at the end. Does not own the order of ranks: whoever calls chooses it.
 */
@NullMarked
package dev.tenon.collective.reduce;

import org.jspecify.annotations.NullMarked;
