package dev.tenon.core.tensor;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Compares and shows the elements of tensors. */
final class TensorContents {
    private static final long SHOWN = 8;

    private TensorContents() {}

    /** Whether the elements have the same bits; what pads the last byte of packed types does not count. */
    static boolean equal(TensorType type, MemorySegment a, MemorySegment b) {
        long elements = type.shape().elements();
        boolean padded = type.dtype().bits() < 8 && elements % 2 == 1;
        long whole = type.bytes() - (padded ? 1 : 0);
        return MemorySegment.mismatch(a, 0, whole, b, 0, whole) < 0
                && (!padded
                        || Elements.bits(type.dtype(), a, elements - 1)
                                == Elements.bits(type.dtype(), b, elements - 1));
    }

    static int hash(TensorType type, MemorySegment memory) {
        int hash = type.hashCode();
        for (long i = 0; i < Math.min(type.shape().elements(), 64); i++) {
            hash = 31 * hash + Long.hashCode(Elements.bits(type.dtype(), memory, i));
        }
        return hash;
    }

    static String text(TensorType type, MemorySegment memory) {
        long elements = type.shape().elements();
        long shown = Math.min(elements, SHOWN);
        return LongStream.range(0, shown)
                .mapToObj(i -> element(type.dtype(), memory, i))
                .collect(Collectors.joining(", ", type + " {", shown < elements ? ", …}" : "}"));
    }

    private static String element(DType dtype, MemorySegment memory, long index) {
        return switch (dtype) {
            case F64 -> Double.toString(Elements.getDouble(dtype, memory, index));
            case F32, F16, BF16, F8E4M3, F8E5M2 -> Float.toString((float) Elements.getDouble(dtype, memory, index));
            case BOOL -> Boolean.toString(Elements.getLong(dtype, memory, index) != 0);
            case U64 -> Long.toUnsignedString(Elements.getLong(dtype, memory, index));
            default -> Long.toString(Elements.getLong(dtype, memory, index));
        };
    }
}
