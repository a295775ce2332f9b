package dev.tenon.nativelib.cublas;

/**
 * Values of the enums of {@code cublas_api.h}, {@code cublasLt.h} and {@code library_types.h}, named as there; and the
 * layout of the one struct that is read.
 */
public final class CublasConstants {
    public static final int CUDA_R_32F = 0;
    public static final int CUDA_R_64F = 1;
    public static final int CUDA_R_16F = 2;
    public static final int CUDA_R_16BF = 14;

    public static final int OP_N = 0;
    public static final int OP_T = 1;

    public static final int DEFAULT_MATH = 0;
    public static final int GEMM_DEFAULT = -1;

    public static final int COMPUTE_32F = 68;
    public static final int COMPUTE_64F = 70;
    public static final int COMPUTE_32F_FAST_TF32 = 77;

    public static final int STATUS_ALLOC_FAILED = 3;

    public static final int MATMUL_DESC_TRANSA = 3;
    public static final int MATMUL_DESC_TRANSB = 4;
    public static final int MATMUL_DESC_EPILOGUE = 7;
    public static final int MATMUL_DESC_BIAS_POINTER = 8;
    public static final int MATMUL_DESC_BIAS_DATA_TYPE = 26;

    public static final int EPILOGUE_DEFAULT = 1;
    public static final int EPILOGUE_RELU = 2;
    public static final int EPILOGUE_BIAS = 4;

    public static final int MATRIX_LAYOUT_BATCH_COUNT = 5;
    public static final int MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6;

    public static final int MATMUL_PREF_MAX_WORKSPACE_BYTES = 1;
    public static final int MATMUL_PREF_REDUCTION_SCHEME_MASK = 3;
    public static final int MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5;
    public static final int MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6;
    public static final int MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7;
    public static final int MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8;

    public static final int REDUCTION_SCHEME_COMPUTE_TYPE = 2;

    /** {@code cublasLtMatmulHeuristicResult_t}: algo, workspaceSize, state, wavesCount, reserved. */
    public static final int HEURISTIC_RESULT_BYTES = 96;

    /** {@code cublasLtMatmulAlgo_t}: eight words. */
    public static final int ALGO_BYTES = 64;

    public static final int HEURISTIC_RESULT_WORKSPACE = 64;
    public static final int HEURISTIC_RESULT_STATE = 72;

    private CublasConstants() {}
}
