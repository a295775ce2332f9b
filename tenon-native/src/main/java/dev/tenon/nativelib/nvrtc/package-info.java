/**
 * NVRTC: its functions, and a program that is compiled with them. Owns no policy: options, architectures and caching
 * are the CUDA backend's.
 */
@NullMarked
package dev.tenon.nativelib.nvrtc;

import org.jspecify.annotations.NullMarked;
