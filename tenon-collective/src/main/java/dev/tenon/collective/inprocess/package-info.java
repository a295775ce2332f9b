/**
 * Ranks that are threads of one process: {@link dev.tenon.collective.inprocess.InProcessGroup}.
 *
 * <p>Owns the threads, how they meet (a chain of rounds), how they wait, and the algorithms that move elements between them: ring, direct, doubling. Does not own arithmetic ({@code reduce}).
 */
@NullMarked
package dev.tenon.collective.inprocess;

import org.jspecify.annotations.NullMarked;
