package dev.tenon.core.ir.op.custom;

import java.util.ArrayList;
import java.util.List;

/**
 * Launches one kernel. Immutable; each method returns a launch with one more argument, in the order of the kernel's
 * parameters.
 *
 * @param entry the kernel's name in its source
 * @param grid blocks along x, y and z
 * @param block threads of a block along x, y and z
 * @param sharedBytes dynamic shared memory of a block
 * @param arguments in order
 */
public record DeviceLaunch(String entry, Extent grid, Extent block, int sharedBytes, List<DeviceArgument> arguments) {
    private static final int THREADS = 256;
    private static final long MOST_BLOCKS = 1 << 20;

    /** Sizes along three axes, each at least 1. */
    public record Extent(int x, int y, int z) {}

    public DeviceLaunch {
        arguments = List.copyOf(arguments);
    }

    /** Launches a line of blocks. */
    public static DeviceLaunch of(String entry, int blocks, int threads) {
        return new DeviceLaunch(entry, new Extent(blocks, 1, 1), new Extent(threads, 1, 1), 0, List.of());
    }

    /**
     * Launches blocks of 256 threads, one thread an element up to 2^28 elements: the kernel strides by the grid.
     *
     * @param elements at least 1
     */
    public static DeviceLaunch over(String entry, long elements) {
        return of(entry, (int) Math.clamp(Math.ceilDiv(elements, (long) THREADS), 1, MOST_BLOCKS), THREADS);
    }

    /** Sets the dynamic shared memory of a block. */
    public DeviceLaunch shared(int bytes) {
        return new DeviceLaunch(entry, grid, block, bytes, arguments);
    }

    /** Passes the address of an input. */
    public DeviceLaunch input(int index) {
        return with(new DeviceArgument.Input(index));
    }

    /** Passes the address of a result. */
    public DeviceLaunch result(int index) {
        return with(new DeviceArgument.Result(index));
    }

    /** Passes an address in the workspace. */
    public DeviceLaunch workspace(long offset) {
        return with(new DeviceArgument.Workspace(offset));
    }

    public DeviceLaunch number(int value) {
        return with(new DeviceArgument.I32(value));
    }

    public DeviceLaunch number(long value) {
        return with(new DeviceArgument.I64(value));
    }

    public DeviceLaunch number(float value) {
        return with(new DeviceArgument.F32(value));
    }

    public DeviceLaunch number(double value) {
        return with(new DeviceArgument.F64(value));
    }

    /** Passes {@code void* faults, int step}, by which the kernel reports a value without a result. */
    public DeviceLaunch faults() {
        return with(new DeviceArgument.Faults());
    }

    /** Returns this launch with one more argument. */
    public DeviceLaunch with(DeviceArgument argument) {
        List<DeviceArgument> more = new ArrayList<>(arguments);
        more.add(argument);
        return new DeviceLaunch(entry, grid, block, sharedBytes, more);
    }
}
