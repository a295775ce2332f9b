package dev.tenon.collective.reduce;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import java.lang.foreign.MemorySegment;

/** f32, and the short floats, which are widened to it and rounded once. */
final class FloatArithmetic extends Arithmetic<float[]> {
    FloatArithmetic(DType dtype, ReduceOp op) {
        super(dtype, op);
    }

    @Override
    public Class<float[]> arrayType() {
        return float[].class;
    }

    @Override
    public float[] allocate(int length) {
        return new float[length];
    }

    @Override
    boolean keepsElements() {
        return dtype == DType.F32;
    }

    @Override
    public void load(HostBuffer source, long at, float[] array, int from, int count) {
        switch (dtype) {
            case F32 -> MemorySegment.copy(source.memory(), JAVA_FLOAT_UNALIGNED, at * 4, array, from, count);
            case F16 -> ShortFloats.loadF16(source.memory(), at, array, from, count);
            case BF16 -> ShortFloats.loadBf16(source.memory(), at, array, from, count);
            default -> ShortFloats.loadAny(dtype, source.memory(), at, array, from, count);
        }
    }

    @Override
    public void store(float[] array, int from, HostBuffer target, long at, int count) {
        switch (dtype) {
            case F32 -> MemorySegment.copy(array, from, target.memory(), JAVA_FLOAT_UNALIGNED, at * 4, count);
            case F16 -> ShortFloats.storeF16(array, from, target.memory(), at, count);
            case BF16 -> ShortFloats.storeBf16(array, from, target.memory(), at, count);
            default -> ShortFloats.storeAny(dtype, array, from, target.memory(), at, count);
        }
    }

    @Override
    public void fold(float[] into, float[] own, float[] other, int from, int to) {
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
    void sum(float[] into, float[] first, float[] second, float[] third, float[] fourth, int from, int to) {
        for (int i = from; i < to; i++) {
            into[i] = ((first[i] + second[i]) + third[i]) + fourth[i];
        }
    }

    @Override
    void divide(float[] array, int from, int to, int by) {
        for (int i = from; i < to; i++) {
            array[i] /= by;
        }
    }
}
