package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** The limits of compute capability 8.0, which the emulated device keeps. */
final class Limits {
    static final int THREADS_PER_BLOCK = 1024;
    static final int SHARED = 48 * 1024;
    static final int SHARED_OPT_IN = 163 * 1024;
    private static final int SHARED_PER_MULTIPROCESSOR = 164 * 1024;
    private static final int THREADS_PER_MULTIPROCESSOR = 2048;
    private static final int BLOCKS_PER_MULTIPROCESSOR = 32;
    /** More than 8.0 has: the host has none, and launches of many registers are tried here too. */
    private static final int REGISTERS = 4 * 65536;

    private static final int L2 = 40 << 20;
    private static final int RESERVED_SHARED = 1024; // of each block, for the system
    private static final int MOST_BLOCK_Z = 64;
    /**
     * Whatever the host's cores: resident blocks are fibres. More would need more memory mappings (two a thread) than
     * hosts allow.
     */
    private static final int MULTIPROCESSORS = 8;

    private Limits() {}

    static DeviceProperties properties(int ordinal, EmulatorOptions options) {
        return new DeviceProperties(
                ordinal,
                "CUDA emulator, " + options.workers() + " worker(s)" + (options.checked() ? ", checked" : ""),
                EmulatorCompiler.ARCHITECTURE,
                MULTIPROCESSORS,
                options.memoryBytes(),
                SHARED,
                SHARED_OPT_IN,
                SHARED_PER_MULTIPROCESSOR,
                REGISTERS,
                THREADS_PER_MULTIPROCESSOR,
                L2,
                true);
    }

    static int blocksPerMultiprocessor(int threads, int staticShared, int dynamicShared) {
        if (threads < 1 || threads > THREADS_PER_BLOCK) {
            return 0;
        }
        int byThreads = THREADS_PER_MULTIPROCESSOR / ((threads + 31) & -32);
        int byShared = SHARED_PER_MULTIPROCESSOR / (staticShared + dynamicShared + RESERVED_SHARED);
        return Math.min(BLOCKS_PER_MULTIPROCESSOR, Math.min(byThreads, byShared));
    }

    /** @throws NativeException naming every limit that the launch breaks */
    static void check(EmulatedFunction function, LaunchShape shape, int arguments, DeviceProperties device) {
        List<String> broken = new ArrayList<>();
        long threads = (long) shape.blockX() * shape.blockY() * shape.blockZ();
        if (threads > THREADS_PER_BLOCK || shape.blockZ() > MOST_BLOCK_Z) {
            broken.add("a block has at most " + THREADS_PER_BLOCK + " threads, " + MOST_BLOCK_Z + " along z");
        }
        GridLimits.check(shape, function.allowedSharedBytes(), broken);
        if (shape.clusterX() > 1) {
            broken.add("clusters need compute capability 9.0");
        }
        int parameters = function.entry().parameterBytes().size();
        if (arguments != parameters) {
            broken.add("the function has " + parameters + " parameters, the launch " + arguments + " arguments");
        }
        GridLimits.checkResident(shape, function, device.multiprocessors(), broken);
        if (!broken.isEmpty()) {
            throw new NativeException(
                    "emulator: launch of " + function.name() + ", " + shape + ": " + String.join("; ", broken));
        }
    }
}
