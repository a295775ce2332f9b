package dev.tenon.core.compiler.fusion;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Constants multiplied by a factor for each index of an axis, in double and rounded once. */
final class ScaledConstants {
    /** Constants of files lie anywhere. */
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private ScaledConstants() {}

    static boolean isFinite(double[] values) {
        for (double value : values) {
            if (!Double.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a type has an infinity for one of those finite numbers. */
    static boolean overflows(DType dtype, double[] values) {
        for (double value : values) {
            if (Double.isFinite(value) && !Double.isFinite(Tolerance.rounded(dtype, value))) {
                return true;
            }
        }
        return false;
    }

    /** Whether factors took finite numbers beyond their type. */
    static boolean overflowed(ConstantData before, ConstantData after) {
        return FiniteWeights.isFinite(before) && !FiniteWeights.isFinite(after);
    }

    /** The elements of a constant. */
    static double[] elements(Value value) {
        ConstantData data = value.constant();
        if (data == null) {
            throw new IllegalStateException(value + " is no constant");
        }
        return NdArray.of(data).toDoubles();
    }

    static ConstantData dense(DType dtype, Shape shape, double[] values) {
        TensorType type = new TensorType(dtype, shape);
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (int i = 0; i < values.length; i++) {
            Elements.setDouble(dtype, to, i, values[i]);
        }
        return new ConstantData.Dense(type, to);
    }

    /** A dense copy, {@code factors[i]} times what has index i of the axis. */
    static ConstantData along(int axis, ConstantData weights, double[] factors) {
        Shape shape = weights.type().shape();
        return grouped(weights, factors, axis, shape.elements(0, axis));
    }

    /**
     * A dense copy of the weights of a transposed convolution, whose output channels are the second dim of each group.
     */
    static ConstantData ofTransposed(ConstantData weights, double[] factors, long groups) {
        Shape shape = weights.type().shape();
        return grouped(weights, factors, 1, shape.size(0) / groups);
    }

    /** @param each indices before the axis that share their factors; the next ones have the next factors */
    private static ConstantData grouped(ConstantData weights, double[] factors, int axis, long each) {
        TensorType type = weights.type();
        Shape shape = type.shape();
        long outer = shape.elements(0, axis);
        long size = shape.size(axis);
        long run = shape.elements(axis + 1, shape.rank());
        MemorySegment from = weights.elements();
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        for (long i = 0; i < outer; i++) {
            for (long j = 0; j < size; j++) {
                scale(type.dtype(), from, to, (i * size + j) * run, run, factors[(int) (i / each * size + j)]);
            }
        }
        return new ConstantData.Dense(type, to);
    }

    private static void scale(
            DType dtype, MemorySegment from, MemorySegment to, long start, long count, double factor) {
        if (dtype == DType.F32) {
            for (long i = start; i < start + count; i++) {
                double product = from.getAtIndex(FLOATS, i) * factor;
                to.setAtIndex(FLOATS, i, (float) product);
            }
            return;
        }
        for (long i = start; i < start + count; i++) {
            Elements.setDouble(dtype, to, i, Elements.getDouble(dtype, from, i) * factor);
        }
    }

    /** The largest magnitude of each index of an axis. */
    static double[] largest(int axis, ConstantData weights) {
        TensorType type = weights.type();
        Shape shape = type.shape();
        long size = shape.size(axis);
        long run = shape.elements(axis + 1, shape.rank());
        MemorySegment from = weights.elements();
        double[] largest = new double[(int) size];
        for (long i = 0; i < shape.elements(); i++) {
            int at = (int) (i / run % size);
            largest[at] = Math.max(largest[at], Math.abs(Elements.getDouble(type.dtype(), from, i)));
        }
        return largest;
    }
}
