package dev.tenon.collective.reduce;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.MemorySegment;

/** i32 except its mean, and the shorter integers, which are widened to it. */
final class IntArithmetic extends Arithmetic<int[]> {
    IntArithmetic(DType dtype, ReduceOp op) {
        super(dtype, op);
    }

    @Override
    public Class<int[]> arrayType() {
        return int[].class;
    }

    @Override
    public int[] allocate(int length) {
        return new int[length];
    }

    @Override
    boolean keepsElements() {
        return dtype == DType.I32;
    }

    @Override
    public void load(HostBuffer source, long at, int[] array, int from, int count) {
        if (dtype == DType.I32) {
            MemorySegment.copy(source.memory(), JAVA_INT_UNALIGNED, at * 4, array, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            array[from + i] = (int) Elements.getLong(dtype, source.memory(), at + i);
        }
    }

    @Override
    public void store(int[] array, int from, HostBuffer target, long at, int count) {
        if (dtype == DType.I32) {
            MemorySegment.copy(array, from, target.memory(), JAVA_INT_UNALIGNED, at * 4, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            Elements.setLong(dtype, target.memory(), at + i, array[from + i]);
        }
    }

    @Override
    public void fold(int[] into, int[] own, int[] other, int from, int to) {
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
    void sum(int[] into, int[] first, int[] second, int[] third, int[] fourth, int from, int to) {
        for (int i = from; i < to; i++) {
            into[i] = ((first[i] + second[i]) + third[i]) + fourth[i];
        }
    }

    @Override
    void divide(int[] array, int from, int to, int by) {
        for (int i = from; i < to; i++) {
            array[i] /= by;
        }
    }
}
