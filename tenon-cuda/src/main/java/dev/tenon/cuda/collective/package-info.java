/**
 * Ranks on GPUs: {@link dev.tenon.cuda.collective.GpuGroup} for the devices of one process, {@link dev.tenon.cuda.collective.GpuRank} for a process a device.
 *
 * <p>Owns the communicators, how processes find each other, and the all-reduce over peer memory. Does not own the bindings ({@code dev.tenon.nativelib.nccl}) nor the meaning of the operations ({@code dev.tenon.core.collective}).
 */
@NullMarked
package dev.tenon.cuda.collective;

import org.jspecify.annotations.NullMarked;
