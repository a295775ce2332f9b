/**
 * Loops over the columns of rows: what is reduced or normalised over an axis that is not the last.
 *
 * <p>Owns the numbers that are kept of each column, and how rows of few columns are taken as one. Knows no step.
 */
@NullMarked
package dev.tenon.cpu.columns;

import org.jspecify.annotations.NullMarked;
