/**
 * The emulated GPU platform: {@link dev.tenon.emulator.EmulatorDriver} and {@link dev.tenon.emulator.EmulatorCompiler}
 * behind the CUDA backend's ports. The host's C++ compiler builds the same {@code .cu} files against a device header of
 * the same name, and a runtime object runs them on CPU threads. Its C++ source is among this module's resources.
 *
 * <p>Owns CUDA's semantics on CPU threads: blocks, barriers, collectives, shared memory, streams, events, graphs, and
 * the checks of all of them. Does not own kernels or what launches them, nor the kernel cache.
 *
 * <p>Worker threads claim a launch's blocks in order. The threads of a block are fibres of one worker, switched by
 * assembly ({@code fibre.cpp}); {@code block.cpp} has the barriers, {@code warp.cpp} the collectives of a warp, {@code
 * tensor.cpp} fragments and asynchronous copies. Shared memory is the worker's thread-local storage. The blocks of a
 * cooperative launch are all resident and take turns.
 *
 * <p>Checked kernels are compiled with the thread sanitizer's hooks. An access passes if it lies in live device memory,
 * the thread's stack, the module's globals, or shared memory, of which {@code shared.cpp} knows for each byte who
 * accessed it since which barrier. A fault ends the launch, not the process: the context is lost as on a GPU, and the
 * message names kernel, block, thread and source line.
 *
 * <p>Streams are Java threads with a queue; a capture is a list of the same work. Where the order between streams is
 * checked, each stream has a vector clock ({@code OrderClock}), events carry it, and {@code order.cpp} knows for each
 * 64 bytes of device memory which work wrote and read them last.
 */
@NullMarked
package dev.tenon.emulator;

import org.jspecify.annotations.NullMarked;
