/**
 * The emulated GPU platform: {@link dev.tenon.emulator.EmulatorDriver} and {@link dev.tenon.emulator.EmulatorCompiler} behind the CUDA backend's ports. The same {@code .cu} files are built by the host's C++ compiler against a device
 * header of the same name, and run on CPU threads by a runtime object, whose C++ source is among this module's resources.
 *
 * <p>Owns CUDA's semantics on CPU threads: blocks, barriers, collectives, shared memory, streams, events, graphs, and the checks of all of them. Does not own kernels or what launches them, nor the kernel cache.
 */
@NullMarked
package dev.tenon.emulator;

import org.jspecify.annotations.NullMarked;
