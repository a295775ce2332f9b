package dev.tenon.nativelib.cuda;

/**
 * Values of the driver's enums and flags, named as in {@code cuda.h} without the prefix {@code CU_}. A test compares
 * them with the header.
 */
public final class CuConstants {
    public static final int DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8;
    public static final int DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
    public static final int DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38;
    public static final int DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39;
    public static final int DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
    public static final int DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;
    public static final int DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81;
    public static final int DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82;
    public static final int DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95;
    public static final int DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97;

    public static final int FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0;
    public static final int FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1;
    public static final int FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3;
    public static final int FUNC_ATTRIBUTE_NUM_REGS = 4;
    public static final int FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
    public static final int FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14;

    public static final int LAUNCH_ATTRIBUTE_COOPERATIVE = 2;
    public static final int LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4;
    public static final int LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6;

    public static final int JIT_ERROR_LOG_BUFFER = 5;
    public static final int JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6;

    public static final int MEMHOSTALLOC_PORTABLE = 1;
    public static final int STREAM_NON_BLOCKING = 1;
    public static final int EVENT_DEFAULT = 0;
    public static final int EVENT_DISABLE_TIMING = 2;

    public static final int STREAM_CAPTURE_MODE_THREAD_LOCAL = 1;
    public static final int STREAM_CAPTURE_MODE_RELAXED = 2;
    public static final int STREAM_CAPTURE_STATUS_NONE = 0;

    public static final int GRAPH_NODE_TYPE_MEM_ALLOC = 10;
    public static final int GRAPH_NODE_TYPE_MEM_FREE = 11;

    public static final int TENSOR_MAP_DATA_TYPE_UINT8 = 0;
    public static final int TENSOR_MAP_DATA_TYPE_FLOAT16 = 6;
    public static final int TENSOR_MAP_DATA_TYPE_FLOAT32 = 7;
    public static final int TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9;
    public static final int TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11;
    public static final int TENSOR_MAP_INTERLEAVE_NONE = 0;
    public static final int TENSOR_MAP_SWIZZLE_NONE = 0;
    public static final int TENSOR_MAP_SWIZZLE_32B = 1;
    public static final int TENSOR_MAP_SWIZZLE_64B = 2;
    public static final int TENSOR_MAP_SWIZZLE_128B = 3;
    public static final int TENSOR_MAP_L2_PROMOTION_L2_256B = 3;
    public static final int TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0;

    private CuConstants() {}
}
