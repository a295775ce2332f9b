package dev.tenon.collective.reduce;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.MemorySegment;

/**
 * i64, u64, u32, and the mean of i32. For the largest and the least u64 the sign bit is turned over on the way in and
 * out, which puts unsigned numbers in the signed order.
 */
final class LongArithmetic extends Arithmetic<long[]> {
    private final boolean flipped;

    LongArithmetic(DType dtype, ReduceOp op) {
        super(dtype, op);
        flipped = dtype == DType.U64 && (op == ReduceOp.MAX || op == ReduceOp.MIN);
    }

    @Override
    public Class<long[]> arrayType() {
        return long[].class;
    }

    @Override
    public long[] allocate(int length) {
        return new long[length];
    }

    @Override
    boolean keepsElements() {
        return dtype.bits() == 64 && !flipped;
    }

    @Override
    public void load(HostBuffer source, long at, long[] array, int from, int count) {
        if (dtype.bits() == 64) {
            MemorySegment.copy(source.memory(), JAVA_LONG_UNALIGNED, at * 8, array, from, count);
            flip(array, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[from + i] = Elements.getLong(dtype, source.memory(), at + i);
        }
    }

    @Override
    public void store(long[] array, int from, HostBuffer target, long at, int count) {
        if (dtype.bits() == 64) {
            flip(array, from, count);
            MemorySegment.copy(array, from, target.memory(), JAVA_LONG_UNALIGNED, at * 8, count);
            flip(array, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Elements.setLong(dtype, target.memory(), at + i, array[from + i]);
        }
    }

    @Override
    public void fold(long[] into, long[] own, long[] other, int from, int to) {
        switch (op) {
            case SUM, MEAN -> {
                for (int i = from; i < to; i++) {
                    into[i] = own[i] + other[i];
                }
            }
            case PROD -> {
                for (int i = from; i < to; i++) {
                    into[i] = own[i] * other[i];
                }
            }
            case MAX -> {
                for (int i = from; i < to; i++) {
                    into[i] = Math.max(own[i], other[i]);
                }
            }
            case MIN -> {
                for (int i = from; i < to; i++) {
                    into[i] = Math.min(own[i], other[i]);
                }
            }
        }
    }

    @Override
    void sum(long[] into, long[] first, long[] second, long[] third, long[] fourth, int from, int to) {
        for (int i = from; i < to; i++) {
            into[i] = ((first[i] + second[i]) + third[i]) + fourth[i];
        }
    }

    @Override
    void divide(long[] array, int from, int to, int by) {
        for (int i = from; i < to; i++) {
            array[i] = dtype == DType.U64 ? Long.divideUnsigned(array[i], by) : array[i] / by;
        }
    }

    private void flip(long[] array, int from, int count) {
        if (flipped) {
            for (int i = from; i < from + count; i++) {
                array[i] ^= Long.MIN_VALUE;
            }
        }
    }
}
