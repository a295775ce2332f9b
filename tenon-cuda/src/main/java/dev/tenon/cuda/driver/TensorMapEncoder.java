package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.TensorMap;
import dev.tenon.nativelib.cuda.CuMemory;
import dev.tenon.nativelib.cuda.CuStructs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Tensor maps in the driver's form. */
final class TensorMapEncoder {
    private static final int INTERLEAVE_NONE = 0;
    private static final int PROMOTION_L2_256B = 3;
    private static final int FILL_ZERO = 0;

    private TensorMapEncoder() {}

    static MemorySegment encode(PrimaryContext primary, TensorMap map) {
        MemorySegment encoded = Arena.ofAuto().allocate(CuStructs.TENSOR_MAP_BYTES, CuStructs.TENSOR_MAP_ALIGNMENT);
        int rank = map.sizes().size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes = arena.allocate(ValueLayout.JAVA_LONG, rank);
            MemorySegment strides = arena.allocate(ValueLayout.JAVA_LONG, rank);
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
                            INTERLEAVE_NONE,
                            map.swizzle().ordinal(), // in the driver's order: none, 32, 64, 128 bytes
                            PROMOTION_L2_256B,
                            FILL_ZERO),
                    "cuTensorMapEncodeTiled(%s)",
                    map);
        }
        return encoded;
    }

    private static int type(TensorMap.Element element) {
        return switch (element) {
            case U8 -> 0;
            case F16 -> 6;
            case F32 -> 7;
            case BF16 -> 9;
            case TF32 -> 11;
        };
    }
}
