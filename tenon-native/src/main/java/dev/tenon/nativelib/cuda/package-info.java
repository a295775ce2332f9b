/**
 * CUDA's driver library: its functions under their C names ({@link dev.tenon.nativelib.cuda.CuMemory} and its kin), its
 * constants and struct layouts, and the check of its statuses ({@link dev.tenon.nativelib.cuda.CuStatus#CHECK}).
 *
 * <p>Only functions that Tenon uses. Owns no policy: contexts, lifetimes and errors of devices are the CUDA backend's.
 */
@NullMarked
package dev.tenon.nativelib.cuda;

import org.jspecify.annotations.NullMarked;
