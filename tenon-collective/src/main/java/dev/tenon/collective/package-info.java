/**
 * What ranks do together: {@link dev.tenon.collective.Communicator} and the words it needs.
 *
 * <p>Owns the contract: which operations there are, what they mean for every element type and length, and what happens
 * when ranks disagree. Does not own any transport: ranks in one process are {@code inprocess}, other modules bring
 * others.
 */
@NullMarked
package dev.tenon.collective;

import org.jspecify.annotations.NullMarked;
