/**
 * Inner loops over memory, on the Vector API and as plain loops beside it, and when the vector form is taken into use.
 *
 * <p>Owns the arithmetic that is hot and how elements lie. Knows neither steps nor plans. Plain loops serve JVMs
 * without the vector module, and every JVM until it has compiled the vector loops.
 */
@NullMarked
package dev.tenon.cpu.loops;

import org.jspecify.annotations.NullMarked;
