/**
 * Spectra.
 */
@NullMarked
package dev.tenon.cpu.signal;

import org.jspecify.annotations.NullMarked;
