/**
 * What turns kernel sources into images: NVRTC, PTX that was built ahead, nvcc ({@link dev.tenon.cuda.compile.KernelCompilers} tries them in that order and says why), and the cache on disk before each
 * ({@link dev.tenon.cuda.compile.CachingCompiler}, {@link dev.tenon.cuda.compile.KernelCache}), which serves other platforms' compilers as well. Does not own the sources.
 */
@NullMarked
package dev.tenon.cuda.compile;

import org.jspecify.annotations.NullMarked;
