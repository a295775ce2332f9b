package dev.tenon.nativelib.nccl;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/** Values and layouts of {@code nccl.h}, without the prefix. */
public final class NcclConstants {
    public static final int SUCCESS = 0;
    public static final int UNHANDLED_CUDA_ERROR = 1;
    public static final int SYSTEM_ERROR = 2;
    public static final int INTERNAL_ERROR = 3;
    public static final int INVALID_ARGUMENT = 4;
    public static final int INVALID_USAGE = 5;
    public static final int REMOTE_ERROR = 6;
    public static final int IN_PROGRESS = 7;

    public static final int INT8 = 0;
    public static final int UINT8 = 1;
    public static final int INT32 = 2;
    public static final int UINT32 = 3;
    public static final int INT64 = 4;
    public static final int UINT64 = 5;
    public static final int FLOAT16 = 6;
    public static final int FLOAT32 = 7;
    public static final int FLOAT64 = 8;
    public static final int BFLOAT16 = 9;

    public static final int SUM = 0;
    public static final int PROD = 1;
    public static final int MAX = 2;
    public static final int MIN = 3;
    public static final int AVG = 4;

    public static final int UNIQUE_ID_BYTES = 128;

    /** A struct of 128 bytes, which is passed by value. */
    public static final StructLayout UNIQUE_ID = MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(UNIQUE_ID_BYTES, ValueLayout.JAVA_BYTE).withName("internal"));

    private NcclConstants() {}

    /** A status's name, {@code ncclRemoteError}; empty for one that is not known here. */
    public static String name(int status) {
        return switch (status) {
            case SUCCESS -> "ncclSuccess";
            case UNHANDLED_CUDA_ERROR -> "ncclUnhandledCudaError";
            case SYSTEM_ERROR -> "ncclSystemError";
            case INTERNAL_ERROR -> "ncclInternalError";
            case INVALID_ARGUMENT -> "ncclInvalidArgument";
            case INVALID_USAGE -> "ncclInvalidUsage";
            case REMOTE_ERROR -> "ncclRemoteError";
            case IN_PROGRESS -> "ncclInProgress";
            default -> "";
        };
    }
}
