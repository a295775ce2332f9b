/**
 * The arithmetic of reductions over ranks.
 *
 * <p>Owns the loops, the types that elements are kept in on the way, and the one rounding at the end. Does not own the
 * order of ranks, which the caller chooses.
 *
 * <p>The loops run over equal indices of plain arrays, which the JVM's compiler vectorises. Elements that no array
 * holds as they lie (f16, bf16, f8, short and unsigned integers, memory outside the heap) pass through an array of a
 * wider type and are rounded once.
 */
@NullMarked
package dev.tenon.collective.reduce;

import org.jspecify.annotations.NullMarked;
