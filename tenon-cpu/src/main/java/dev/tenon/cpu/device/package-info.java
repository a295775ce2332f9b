/**
 * The CPU as a device of the runtime: opened once, with its workers and its books.
 *
 * <p>Owns what the backend contract asks. Does not own plans ({@code plan}) or any arithmetic.
 */
@NullMarked
package dev.tenon.cpu.device;

import org.jspecify.annotations.NullMarked;
