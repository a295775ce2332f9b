package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;

/**
 * What a scattered update does to the elements it meets. Short floats that are summed or multiplied collect in f32
 * workspace and are rounded once at the end: a thousand ones added to a bf16 one by one would stop at 256.
 */
final class Combiner {
    private final ScatterFn fn;
    private final DType dtype;

    Combiner(ScatterFn fn, DType dtype) {
        this.fn = fn;
        this.dtype = dtype;
    }

    /** Whether results collect in f32 workspace. */
    boolean isWide() {
        return dtype.accumulator() != dtype && (fn == ScatterFn.ADD || fn == ScatterFn.MUL);
    }

    /** Combines {@code count} neighbouring elements of updates into as many of the target, both of the data's type. */
    void apply(MemorySegment target, long to, MemorySegment updates, long from, long count) {
        if (fn == ScatterFn.REPLACE) {
            Raw.copyElements(dtype, updates, from, target, to, count);
        } else if (dtype == DType.F32) {
            for (long i = 0; i < count; i++) {
                float value = target.get(Raw.F32, (to + i) * 4);
                target.set(Raw.F32, (to + i) * 4, combine(value, updates.get(Raw.F32, (from + i) * 4)));
            }
        } else if (dtype.isFloat()) {
            for (long i = 0; i < count; i++) {
                double value = Elements.getDouble(dtype, target, to + i);
                Elements.setDouble(dtype, target, to + i, combine(value, Elements.getDouble(dtype, updates, from + i)));
            }
        } else {
            for (long i = 0; i < count; i++) {
                long value = Elements.getLong(dtype, target, to + i);
                Elements.setLong(dtype, target, to + i, combine(value, Elements.getLong(dtype, updates, from + i)));
            }
        }
    }

    /** Combines elements of updates into f32 workspace. */
    void applyWide(MemorySegment workspace, long to, MemorySegment updates, long from, long count) {
        for (long i = 0; i < count; i++) {
            float value = workspace.get(Raw.F32, (to + i) * 4);
            workspace.set(Raw.F32, (to + i) * 4, combine(value, (float) Elements.getDouble(dtype, updates, from + i)));
        }
    }

    /** Takes elements of the target to workspace. */
    void widen(MemorySegment target, long from, MemorySegment workspace, long to, long count) {
        for (long i = 0; i < count; i++) {
            workspace.set(Raw.F32, (to + i) * 4, (float) Elements.getDouble(dtype, target, from + i));
        }
    }

    /** Rounds workspace to elements of the target. */
    void narrow(MemorySegment workspace, long from, MemorySegment target, long to, long count) {
        for (long i = 0; i < count; i++) {
            Elements.setDouble(dtype, target, to + i, workspace.get(Raw.F32, (from + i) * 4));
        }
    }

    private float combine(float a, float b) {
        return switch (fn) {
            case REPLACE -> b;
            case ADD -> a + b;
            case MUL -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    private double combine(double a, double b) {
        return switch (fn) {
            case REPLACE -> b;
            case ADD -> a + b;
            case MUL -> a * b;
            case MIN -> Math.min(a, b);
            case MAX -> Math.max(a, b);
        };
    }

    private long combine(long a, long b) {
        return switch (fn) {
            case REPLACE -> b;
            case ADD -> a + b;
            case MUL -> a * b;
            case MIN -> BinaryFn.MIN.apply(dtype, a, b);
            case MAX -> BinaryFn.MAX.apply(dtype, a, b);
        };
    }
}
