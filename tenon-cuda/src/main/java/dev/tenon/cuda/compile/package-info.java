/**
 * What turns kernel sources into images: NVRTC, PTX that was built ahead, nvcc, tried in that order by {@link
 * dev.tenon.cuda.compile.KernelCompilers}, and the cache on disk before each ({@link
 * dev.tenon.cuda.compile.CachingCompiler}, {@link dev.tenon.cuda.compile.KernelCache}), which serves other platforms'
 * compilers as well. Does not own the sources.
 *
 * <p>An image that the driver rejects is followed by the next compiler's. Devices that a compiler knows get machine
 * code, newer ones PTX of the newest architecture below. A cache entry is one file, the image first and a checked
 * trailer behind it, written beside and renamed. PTX built ahead is named by a hash of the source, so that PTX of other
 * sources is never found. It serves newer devices only up to the next architecture from which on sources have code of
 * their own. Compilers that are processes read their sources in a {@code Workshop}.
 */
@NullMarked
package dev.tenon.cuda.compile;

import org.jspecify.annotations.NullMarked;
