/**
 * Reads and writes numpy's .npy files: {@link dev.tenon.formats.npy.Npy}.
 *
 * <p>Owns the header and the order of bytes and axes. Does not own what an array is for.
 */
@NullMarked
package dev.tenon.formats.npy;

import org.jspecify.annotations.NullMarked;
