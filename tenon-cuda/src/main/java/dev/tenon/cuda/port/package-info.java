/**
 * What the CUDA backend sees of a GPU platform: devices, memory, modules, launches, streams, events, graphs ({@link
 * dev.tenon.cuda.port.GpuDriver}), and what makes a module out of source ({@link dev.tenon.cuda.port.KernelCompiler}).
 *
 * <p>Two platforms implement it: libcuda with NVRTC, and the emulator. Owns the contracts and the small values they
 * pass; does not own any native call.
 */
@NullMarked
package dev.tenon.cuda.port;

import org.jspecify.annotations.NullMarked;
