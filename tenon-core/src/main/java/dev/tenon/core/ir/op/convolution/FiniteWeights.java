package dev.tenon.core.ir.op.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Value;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Tells whether a constant has neither NaN nor infinities. A product of such weights with a zero is zero, so zeros may
 * stand where a window has no cell. Each constant is read once. Thread-safe.
 */
public final class FiniteWeights {
    private static final int F32_EXPONENT = 0x7F80_0000;
    private static final int F16_EXPONENT = 0x7C00;
    private static final int BF16_EXPONENT = 0x7F80;

    /** Elements that pass through an array: its loop is fast before the JVM has compiled those over segments. */
    private static final long PART = 4096;

    /** Files have their elements anywhere. */
    private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT_UNALIGNED;

    private static final ValueLayout.OfShort SHORTS = ValueLayout.JAVA_SHORT_UNALIGNED;

    private static final Map<ConstantData, Boolean> KNOWN = Collections.synchronizedMap(new WeakHashMap<>());

    private FiniteWeights() {}

    /** Whether a value is a constant of finite numbers. */
    public static boolean isFinite(Value value) {
        ConstantData data = value.constant();
        return data != null && isFinite(data);
    }

    /** Whether all elements are finite; those of integers are. */
    public static boolean isFinite(ConstantData data) {
        return switch (data) {
            case ConstantData.Splat(var type, long element) ->
                !type.dtype().isFloat() || Double.isFinite(Elements.toDouble(type.dtype(), element));
            case ConstantData.Dense dense -> {
                if (!dense.type().dtype().isFloat()) {
                    yield true;
                }
                Boolean known = KNOWN.get(dense);
                if (known == null) {
                    known = scan(dense);
                    KNOWN.put(dense, known);
                }
                yield known;
            }
        };
    }

    /** Records that all elements of a constant are finite, as the code that wrote them has checked. */
    public static void found(ConstantData.Dense dense) {
        KNOWN.put(dense, true);
    }

    /** Records that a constant has the elements of another one, in another order. */
    public static void same(ConstantData data, ConstantData.Dense ordered) {
        Boolean known = data instanceof ConstantData.Dense ? KNOWN.get(data) : null;
        if (known != null) {
            KNOWN.put(ordered, known);
        }
    }

    private static boolean scan(ConstantData.Dense dense) {
        DType dtype = dense.type().dtype();
        MemorySegment from = dense.segment();
        long count = dense.type().shape().elements();
        return switch (dtype) {
            case F32 -> countInts(from, count) == 0;
            case F16 -> countShorts(from, count, F16_EXPONENT) == 0;
            case BF16 -> countShorts(from, count, BF16_EXPONENT) == 0;
            default -> {
                for (long i = 0; i < count; i++) {
                    if (!Double.isFinite(Elements.getDouble(dtype, from, i))) {
                        yield false;
                    }
                }
                yield true;
            }
        };
    }

    private static long countInts(MemorySegment from, long count) {
        int[] part = new int[(int) Math.min(PART, count)];
        long found = 0;
        for (long done = 0; done < count; done += part.length) {
            int now = (int) Math.min(part.length, count - done);
            MemorySegment.copy(from, INTS, 4 * done, part, 0, now);
            for (int i = 0; i < now; i++) {
                found += (part[i] & F32_EXPONENT) == F32_EXPONENT ? 1 : 0;
            }
        }
        return found;
    }

    private static long countShorts(MemorySegment from, long count, int exponent) {
        short[] part = new short[(int) Math.min(PART, count)];
        long found = 0;
        for (long done = 0; done < count; done += part.length) {
            int now = (int) Math.min(part.length, count - done);
            MemorySegment.copy(from, SHORTS, 2 * done, part, 0, now);
            for (int i = 0; i < now; i++) {
                found += (part[i] & exponent) == exponent ? 1 : 0;
            }
        }
        return found;
    }
}
