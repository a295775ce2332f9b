package dev.tenon.nativelib.cuda;

/**
 * Sizes and offsets of the driver's structs, in bytes; the same on every 64-bit platform. A test compares them with
 * what a C program prints.
 */
public final class CuStructs {
    /** {@code CUlaunchConfig}: seven ints, then these. */
    public static final int LAUNCH_CONFIG_BYTES = 56;

    public static final int LAUNCH_CONFIG_GRID_X = 0;
    public static final int LAUNCH_CONFIG_BLOCK_X = 12;
    public static final int LAUNCH_CONFIG_SHARED_BYTES = 24;
    public static final int LAUNCH_CONFIG_STREAM = 32;
    public static final int LAUNCH_CONFIG_ATTRIBUTES = 40;
    public static final int LAUNCH_CONFIG_ATTRIBUTE_COUNT = 48;

    /** {@code CUlaunchAttribute}: an id, then a union of 64 bytes. */
    public static final int LAUNCH_ATTRIBUTE_BYTES = 72;

    public static final int LAUNCH_ATTRIBUTE_ID = 0;
    public static final int LAUNCH_ATTRIBUTE_VALUE = 8;

    /** {@code CUgraphExecUpdateResultInfo}. */
    public static final int GRAPH_UPDATE_RESULT_BYTES = 24;

    /** {@code CUtensorMap}; CUDA 12 aligns it by 64, CUDA 13 by 128. */
    public static final int TENSOR_MAP_BYTES = 128;

    public static final int TENSOR_MAP_ALIGNMENT = 128;

    private CuStructs() {}
}
