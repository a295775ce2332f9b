/**
 * Ranks that are threads of one process: {@link dev.tenon.collective.inprocess.InProcessGroup}.
 *
 * <p>Owns the threads, how they meet, how they wait, and the algorithms that move elements between them. Does not own
 * arithmetic ({@code reduce}).
 *
 * <p>Every operation is a {@code Round}. Ranks arrive with their {@code Call}; the last one checks that all agree, and
 * either fails the round for every rank before any element moves, or publishes a {@code Plan}. Rounds form a chain, so
 * a late rank finds the outcome of the round that it missed.
 *
 * <ul>
 *   <li>{@code direct}, the default: pieces are tasks that any running rank claims, each summed in the ring's order and
 *      written to all
 *   <li>{@code ring}: each rank has two {@code Link}s, channels with one producer and one consumer that pass
 *      references; the receiver reads the sender's memory and releases it
 *   <li>{@code doubling}: pairs exchange whole vectors
 * </ul>
 *
 * <p>A rank spins while waiting only where each rank has a core, then yields, then sleeps until woken. Every wait has a
 * deadline. A failure before elements move leaves the group usable; a later one breaks it, and no rank returns while
 * another may still write its buffer.
 */
@NullMarked
package dev.tenon.collective.inprocess;

import org.jspecify.annotations.NullMarked;
