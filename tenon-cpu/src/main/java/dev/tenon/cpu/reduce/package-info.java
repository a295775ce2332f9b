/**
 * Reductions, the places of extremes, the largest few, running sums.
 */
@NullMarked
package dev.tenon.cpu.reduce;

import org.jspecify.annotations.NullMarked;
