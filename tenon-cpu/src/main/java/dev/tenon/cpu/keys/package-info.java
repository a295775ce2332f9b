/**
 * Elements of every type of whole bytes as integers that compare as their values do, and loops that look for large
 * ones.
 *
 * <p>Owns what is equal and where NaN stands. Knows no step.
 */
@NullMarked
package dev.tenon.cpu.keys;

import org.jspecify.annotations.NullMarked;
