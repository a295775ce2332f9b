/**
 * Loops over arrays of floats for functions that need more than a line: logarithms, powers, remainders, angles. They
 * work in double and round once. What memory they come from is the loops' business.
 */
@NullMarked
package dev.tenon.cpu.function;

import org.jspecify.annotations.NullMarked;
