package dev.tenon.collective.reduce;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import java.lang.foreign.MemorySegment;

/** f64. */
final class DoubleArithmetic extends Arithmetic<double[]> {
    DoubleArithmetic(ReduceOp op) {
        super(DType.F64, op);
    }

    @Override
    public Class<double[]> arrayType() {
        return double[].class;
    }

    @Override
    public double[] allocate(int length) {
        return new double[length];
    }

    @Override
    boolean keepsElements() {
        return true;
    }

    @Override
    public void load(HostBuffer source, long at, double[] array, int from, int count) {
        MemorySegment.copy(source.memory(), JAVA_DOUBLE_UNALIGNED, at * 8, array, from, count);
    }

    @Override
    public void store(double[] array, int from, HostBuffer target, long at, int count) {
        MemorySegment.copy(array, from, target.memory(), JAVA_DOUBLE_UNALIGNED, at * 8, count);
    }

    @Override
    public void fold(double[] into, double[] own, double[] other, int from, int to) {
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
    void sum(double[] into, double[] first, double[] second, double[] third, double[] fourth, int from, int to) {
        for (int i = from; i < to; i++) {
            into[i] = ((first[i] + second[i]) + third[i]) + fourth[i];
        }
    }

    @Override
    void divide(double[] array, int from, int to, int by) {
        for (int i = from; i < to; i++) {
            array[i] /= by;
        }
    }
}
