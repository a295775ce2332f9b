/**
 * Kernels in machine code, which this package assembles itself: no file to build or to ship, no compiler to wait for.
 *
 * <p>Owns the encodings, the memory that code lies in, what the processor can and what the system is told of pages.
 * Knows neither loops nor steps. A kernel checks in Java that all it touches lies within the memory it is given;
 * passing the memory itself to the call keeps it alive until the code returns. Where the system, the processor or the
 * start of the JVM does not allow it, {@code make} says why, and the loops in Java serve.
 */
@NullMarked
package dev.tenon.cpu.machine;

import org.jspecify.annotations.NullMarked;
