package dev.tenon.cuda.blas;

import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.cublas.CublasConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What the libraries call our types, and the scalars that they take by address. */
final class GemmTypes {
    private static final MemorySegment SCALARS = Arena.global().allocate(32, 16);

    static {
        SCALARS.set(ValueLayout.JAVA_DOUBLE, 0, 0);
        SCALARS.set(ValueLayout.JAVA_DOUBLE, 8, 1);
        SCALARS.set(ValueLayout.JAVA_FLOAT, 16, 0);
        SCALARS.set(ValueLayout.JAVA_FLOAT, 20, 1);
    }

    private GemmTypes() {}

    static int data(DType dtype) {
        return switch (dtype) {
            case F32 -> CublasConstants.CUDA_R_32F;
            case F64 -> CublasConstants.CUDA_R_64F;
            case F16 -> CublasConstants.CUDA_R_16F;
            case BF16 -> CublasConstants.CUDA_R_16BF;
            default -> throw new IllegalArgumentException("products of " + dtype);
        };
    }

    /** Stated with every call: the mode of a handle is not asked. */
    static int compute(GemmProblem problem) {
        return switch (problem.operands()) {
            case F64 -> CublasConstants.COMPUTE_64F;
            case F32 -> problem.tf32() ? CublasConstants.COMPUTE_32F_FAST_TF32 : CublasConstants.COMPUTE_32F;
            default -> CublasConstants.COMPUTE_32F;
        };
    }

    /** The type of alpha and beta. */
    static int scale(GemmProblem problem) {
        return problem.operands() == DType.F64 ? CublasConstants.CUDA_R_64F : CublasConstants.CUDA_R_32F;
    }

    static int operation(boolean transposed) {
        return transposed ? CublasConstants.OP_T : CublasConstants.OP_N;
    }

    /** The address of a 1 of the scalars' type. */
    static long one(GemmProblem problem) {
        return SCALARS.address() + (problem.operands() == DType.F64 ? 8 : 20);
    }

    static long zero(GemmProblem problem) {
        return SCALARS.address() + (problem.operands() == DType.F64 ? 0 : 16);
    }
}
