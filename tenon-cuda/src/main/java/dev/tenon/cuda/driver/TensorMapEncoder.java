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
    private static final long NOWHERE = 1 << 20;

    /** Of no memory. */
    static final TensorMap TILES = new TensorMap(
            TensorMap.Element.F16,
            NOWHERE,
            List.of(64L, 8L),
            List.of(128L),
            List.of(64, 8),
            TensorMap.Swizzle.BYTES_128);

    static final WindowMap WINDOWS = new WindowMap(
            TensorMap.Element.F16,
            NOWHERE,
            List.of(64L, 8L, 8L, 1L),
            List.of(128L, 1024L, 8192L),
            List.of(0, 0),
            List.of(0, 0),
            List.of(1, 1),
            64,
            8,
            TensorMap.Swizzle.BYTES_128);

    private TensorMapEncoder() {}

    /** Calls both functions, whatever comes of it: nothing reads the maps. */
    static void link() {
        encode(room(), TILES);
        encode(room(), WINDOWS);
    }

    private static MemorySegment room() {
        return Arena.ofAuto().allocate(CuStructs.TENSOR_MAP_BYTES, CuStructs.TENSOR_MAP_ALIGNMENT);
    }

    static MemorySegment encode(PrimaryContext primary, TensorMap map) {
        MemorySegment encoded = room();
        primary.check(encode(encoded, map), "cuTensorMapEncodeTiled(%s)", map);
        return encoded;
    }

    /** @return the driver's status */
    private static int encode(MemorySegment encoded, TensorMap map) {
        int rank = map.sizes().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment box = arena.allocate(ValueLayout.JAVA_INT, rank);
            MemorySegment steps = arena.allocate(ValueLayout.JAVA_INT, rank);
            for (int i = 0; i < rank; i++) {
                box.setAtIndex(ValueLayout.JAVA_INT, i, map.box().get(i));
                steps.setAtIndex(ValueLayout.JAVA_INT, i, 1);
            }
            return CuMemory.cuTensorMapEncodeTiled(
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
                    CuConstants.TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        }
    }

    static MemorySegment encode(PrimaryContext primary, WindowMap map) {
        MemorySegment encoded = room();
        primary.check(encode(encoded, map), "cuTensorMapEncodeIm2col(%s)", map);
        return encoded;
    }

    /** @return the driver's status */
    private static int encode(MemorySegment encoded, WindowMap map) {
        try (Arena arena = Arena.ofConfined()) {
            int[] steps = {1, map.steps().get(0), map.steps().get(1), 1};
            return CuMemory.cuTensorMapEncodeIm2col(
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
                    CuConstants.TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        }
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
