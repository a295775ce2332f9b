/**
 * Inner loops over memory: plain, on the Vector API, and in machine code; and which form is in use.
 *
 * <p>Owns the arithmetic that is hot and how elements lie. Knows neither steps nor plans. Plain loops serve JVMs
 * without the vector module, and every JVM until it has compiled the vector loops.
 *
 * <ul>
 *   <li>Short loops take each operand as memory and an offset. Loops that work for microseconds take records:
 *       {@code Place}, {@code Matrix}, {@code Taps}. A vector loop reads their components before it begins.
 *   <li>{@code MachineLoops} stand before the others where machine code runs.
 *   <li>C2 vectorises a plain loop at once if it runs over arrays, each row is an array of its own, and every index is
 *       the bare counter. So plain loops ({@code Plain…}) copy blocks of memory to arrays of the thread's own.
 *   <li>{@code PlainProduct} adds four rows of B to a row of C in one such loop. Offsets into one array cost a factor
 *       of five.
 *   <li>{@code PlainExponentials} chooses by {@code min} and {@code max}, because C2 vectorises no choice, and makes
 *       powers of two in a loop of their own, because C2 vectorises no bits that become floats.
 *   <li>{@code WarmUp} runs vector loops on dummy data on one thread. It begins with a vector or two, because a vector
 *       operation in the interpreter takes microseconds. While programs run it rests three quarters of the time.
 *   <li>{@code HotLoop} waits until a vector loop has been asked for often, unless its plain form is many times slower,
 *       and then compares the two forms. It takes a vector loop that is 5 % faster three times in a row. It
 *       gives up on one that makes no progress for 100 batches, or for 300 where C2 has not come to it.
 * </ul>
 */
@NullMarked
package dev.tenon.cpu.loops;

import org.jspecify.annotations.NullMarked;
