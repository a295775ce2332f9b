/**
 * The optional artifact with PTX that nvcc built: the files, and what puts them there. What is done with them is
 * {@link dev.tenon.cuda.compile.PrebuiltPtx}'s.
 */
@NullMarked
package dev.tenon.cuda.ptx;

import org.jspecify.annotations.NullMarked;
