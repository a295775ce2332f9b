package dev.tenon.nativelib.cuda;

import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.StatusCheck;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What the driver's functions return ({@code CUresult}): the values that something here depends on. */
public final class CuStatus {
    public static final int SUCCESS = 0;
    public static final int INVALID_VALUE = 1;
    public static final int OUT_OF_MEMORY = 2;
    public static final int DEINITIALIZED = 4;
    public static final int STUB_LIBRARY = 34;
    public static final int NO_DEVICE = 100;
    public static final int INVALID_IMAGE = 200;
    public static final int NO_BINARY_FOR_GPU = 209;
    public static final int ECC_UNCORRECTABLE = 214;
    public static final int INVALID_PTX = 218;
    public static final int NVLINK_UNCORRECTABLE = 220;
    public static final int JIT_COMPILER_NOT_FOUND = 221;
    public static final int UNSUPPORTED_PTX_VERSION = 222;
    public static final int CONTAINED = 226;
    public static final int NOT_FOUND = 500;
    public static final int NOT_READY = 600;
    public static final int ILLEGAL_ADDRESS = 700;
    public static final int LAUNCH_TIMEOUT = 702;
    public static final int PEER_ACCESS_ALREADY_ENABLED = 704;
    public static final int CONTEXT_IS_DESTROYED = 709;
    public static final int ASSERT = 710;
    public static final int HARDWARE_STACK_ERROR = 714;
    public static final int LAUNCH_FAILED = 719;
    public static final int TENSOR_MEMORY_LEAK = 721;
    public static final int STREAM_CAPTURE_WRONG_THREAD = 908;
    public static final int GRAPH_EXEC_UPDATE_FAILURE = 910;
    public static final int UNKNOWN = 999;

    /** The checked tier. */
    public static final StatusCheck CHECK = new StatusCheck("CUDA driver", CuStatus::name, CuStatus::text);

    private static final int LONGEST = 1024;

    private CuStatus() {}

    /** Whether the context is lost for good: every later call in it fails with the same. */
    public static boolean loses(int status) {
        return switch (status) {
            case ECC_UNCORRECTABLE,
                    NVLINK_UNCORRECTABLE,
                    CONTAINED,
                    ILLEGAL_ADDRESS,
                    LAUNCH_TIMEOUT,
                    CONTEXT_IS_DESTROYED,
                    ASSERT,
                    LAUNCH_FAILED,
                    TENSOR_MEMORY_LEAK,
                    UNKNOWN -> true;
            // hardware stack error, illegal instruction, misaligned address, invalid address space, invalid pc
            default -> status >= HARDWARE_STACK_ERROR && status < LAUNCH_FAILED;
        };
    }

    /** {@code CUDA_ERROR_INVALID_VALUE}. */
    public static String name(int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(ValueLayout.JAVA_LONG);
            return CuDevice.cuGetErrorName(status, text.address()) == 0
                    ? Downcalls.string(text.get(ValueLayout.JAVA_LONG, 0), LONGEST)
                    : "";
        }
    }

    /** The driver's own words. */
    public static String text(int status) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(ValueLayout.JAVA_LONG);
            return CuDevice.cuGetErrorString(status, text.address()) == 0
                    ? Downcalls.string(text.get(ValueLayout.JAVA_LONG, 0), LONGEST)
                    : "";
        }
    }
}
