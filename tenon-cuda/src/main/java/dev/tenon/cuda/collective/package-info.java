/**
 * Ranks on GPUs: {@link dev.tenon.cuda.collective.GpuGroup} for the devices of one process, {@link
 * dev.tenon.cuda.collective.GpuRank} for one process per device.
 *
 * <p>Owns the communicators, how processes find each other, and the all-reduce over peer memory. Does not own the
 * bindings ({@code nativelib.nccl}) nor the meaning of the operations ({@code dev.tenon.collective}).
 *
 * <p>Host memory is compared, staged and waited for ({@code HostCalls}). Memory of the device becomes calls of NCCL on
 * a stream ({@code DeviceWork}), in one order for each device, and together where one thread drives several ({@code
 * Batch}). {@code Fate} says whether the ranks of a process still work together; the {@code Watchdog} ends calls that
 * hang. Short sums go over peer memory ({@code OneShotGroup}), also on the emulator. Processes find each other by
 * {@code Rendezvous}.
 */
@NullMarked
package dev.tenon.cuda.collective;

import org.jspecify.annotations.NullMarked;
