/**
 * Convolutions and their transposes.
 *
 * <p>Owns the choice between matrix products, rows and the direct form.
 */
@NullMarked
package dev.tenon.cpu.convolution;

import org.jspecify.annotations.NullMarked;
