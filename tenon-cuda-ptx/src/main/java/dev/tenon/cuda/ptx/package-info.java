/**
 * The optional artifact with kernels that nvcc built: the files, and what puts them there. What is done with them is
 * {@link dev.tenon.cuda.compile.Prebuilt}'s.
 */
@NullMarked
package dev.tenon.cuda.ptx;

import org.jspecify.annotations.NullMarked;
