package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.TensorMap;
import dev.tenon.cuda.port.WindowMap;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Tensor maps in the driver's form. */
final class TensorMapEncoder {
    private TensorMapEncoder() {}

    static MemorySegment encode(PrimaryContext primary, TensorMap map) {
        MemorySegment encoded = Arena.ofAuto().allocate(CuStructs.TENSOR_MAP_BYTES, CuStructs.TENSOR_MAP_ALIGNMENT);
        int rank = map.sizes().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment box = arena.allocate(ValueLayout.JAVA_INT, rank);
            MemorySegment steps = arena.allocate(ValueLayout.JAVA_INT, rank);
            for (int i = 0; i < rank; i++) {
                box.setAtIndex(ValueLayout.JAVA_INT, i, map.box().get(i));
                steps.setAtIndex(ValueLayout.JAVA_INT, i, 1);
            }
            primary.check(
                    CuMemory.cuTensorMapEncodeTiled(
                            encoded,
                            type(map.element()),
                            rank,
                            map.address(),
                            longs(arena, map.sizes()),
                            longs(arena, map.strides()),
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

    static MemorySegment encode(PrimaryContext primary, WindowMap map) {
        MemorySegment encoded = Arena.ofAuto().allocate(CuStructs.TENSOR_MAP_BYTES, CuStructs.TENSOR_MAP_ALIGNMENT);
        try (Arena arena = Arena.ofConfined()) {
            int[] steps = {1, map.steps().get(0), map.steps().get(1), 1};
            primary.check(
                    CuMemory.cuTensorMapEncodeIm2col(
                            encoded,
                            type(map.element()),
                            steps.length,
                            map.address(),
                            longs(arena, map.sizes()),
                            longs(arena, map.strides()),
                            arena.allocateFrom(
                                            ValueLayout.JAVA_INT,
                                            -map.before().get(0),
                                            -map.before().get(1))
                                    .address(),
                            arena.allocateFrom(
                                            ValueLayout.JAVA_INT,
                                            map.last().get(0),
                                            map.last().get(1))
                                    .address(),
                            map.channels(),
                            map.positions(),
                            arena.allocateFrom(ValueLayout.JAVA_INT, steps).address(),
                            CuConstants.TENSOR_MAP_INTERLEAVE_NONE,
                            swizzle(map.swizzle()),
                            CuConstants.TENSOR_MAP_L2_PROMOTION_L2_256B,
                            CuConstants.TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                    "cuTensorMapEncodeIm2col(%s)",
                    map);
        }
        return encoded;
    }

    private static long longs(Arena arena, List<Long> values) {
        return arena.allocateFrom(
                        ValueLayout.JAVA_LONG,
                        values.stream().mapToLong(Long::longValue).toArray())
                .address();
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
