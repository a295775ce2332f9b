package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.TensorMap;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Tensor maps in the driver's form. */
final class TensorMapEncoder {
    private TensorMapEncoder() {}

    static MemorySegment encode(PrimaryContext primary, TensorMap map) {
        MemorySegment encoded = Arena.ofAuto().allocate(CuStructs.TENSOR_MAP_BYTES, CuStructs.TENSOR_MAP_ALIGNMENT);
        int rank = map.sizes().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, rank);
            MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, rank - 1));
            MemorySegment box = arena.allocate(ValueLayout.JAVA_INT, rank);
            MemorySegment steps = arena.allocate(ValueLayout.JAVA_INT, rank);
            for (int i = 0; i < rank; i++) {
                sizes.setAtIndex(ValueLayout.JAVA_LONG, i, map.sizes().get(i));
                box.setAtIndex(ValueLayout.JAVA_INT, i, map.box().get(i));
                steps.setAtIndex(ValueLayout.JAVA_INT, i, 1);
            }
            for (int i = 0; i < rank - 1; i++) {
                strides.setAtIndex(ValueLayout.JAVA_LONG, i, map.strides().get(i));
            }
            primary.check(
                    CuMemory.cuTensorMapEncodeTiled(
                            encoded,
                            type(map.element()),
                            rank,
                            map.address(),
                            sizes.address(),
                            strides.address(),
                            box.address(),
                            steps.address(),
                            CuConstants.TENSOR_MAP_INTERLEAVE_NONE,
                            swizzle(map.swizzle()),
                            CuConstants.TENSOR_MAP_L2_PROMOTION_L2_256B,
                            CuConstants.TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                    "cuTensorMapEncodeTiled(%s)",
                    map);
        }
        return encoded;
    }

    private static int type(TensorMap.Element element) {
        return switch (element) {
            case U8 -> CuConstants.TENSOR_MAP_DATA_TYPE_UINT8;
            case F16 -> CuConstants.TENSOR_MAP_DATA_TYPE_FLOAT16;
            case F32 -> CuConstants.TENSOR_MAP_DATA_TYPE_FLOAT32;
            case BF16 -> CuConstants.TENSOR_MAP_DATA_TYPE_BFLOAT16;
            case TF32 -> CuConstants.TENSOR_MAP_DATA_TYPE_TFLOAT32;
        };
    }

    private static int swizzle(TensorMap.Swizzle swizzle) {
        return switch (swizzle) {
            case NONE -> CuConstants.TENSOR_MAP_SWIZZLE_NONE;
            case BYTES_32 -> CuConstants.TENSOR_MAP_SWIZZLE_32B;
            case BYTES_64 -> CuConstants.TENSOR_MAP_SWIZZLE_64B;
            case BYTES_128 -> CuConstants.TENSOR_MAP_SWIZZLE_128B;
        };
    }
}
