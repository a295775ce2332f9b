/** The emulated GPU platform. Owns CUDA's semantics on CPU threads; does not own kernels or what launches them. */
@NullMarked
package dev.tenon.emulator;

import org.jspecify.annotations.NullMarked;
