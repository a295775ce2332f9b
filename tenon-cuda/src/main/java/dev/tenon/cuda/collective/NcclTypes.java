package dev.tenon.cuda.collective;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.nccl.NcclConstants;

/** NCCL's numbers for element types and reductions. */
final class NcclTypes {
    private NcclTypes() {}

    /** @throws DTypeException for types that NCCL does not reduce */
    static int type(DType dtype) {
        return switch (dtype) {
            case F64 -> NcclConstants.FLOAT64;
            case F32 -> NcclConstants.FLOAT32;
            case F16 -> NcclConstants.FLOAT16;
            case BF16 -> NcclConstants.BFLOAT16;
            case I64 -> NcclConstants.INT64;
            case I32 -> NcclConstants.INT32;
            case I8 -> NcclConstants.INT8;
            case U64 -> NcclConstants.UINT64;
            case U32 -> NcclConstants.UINT32;
            case U8 -> NcclConstants.UINT8;
            case I16, U16, F8E4M3, F8E5M2, BOOL, I4, U4 ->
                throw new DTypeException("GPUs do not reduce " + dtype + " elements over ranks; convert them to "
                        + (dtype.isFloat() ? DType.F16 : DType.I32));
        };
    }

    /** @throws DTypeException for the mean of integers, which NCCL would round in its own way */
    static int op(DType dtype, ReduceOp op) {
        return switch (op) {
            case SUM -> NcclConstants.SUM;
            case PROD -> NcclConstants.PROD;
            case MAX -> NcclConstants.MAX;
            case MIN -> NcclConstants.MIN;
            case MEAN -> {
                if (!dtype.isFloat()) {
                    throw new DTypeException(
                            "no mean over ranks of " + dtype + " elements on GPUs; take the sum and divide it");
                }
                yield NcclConstants.AVG;
            }
        };
    }
}
