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
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Constants multiplied by a factor for each index of an axis, in double and rounded once. */
final class ScaledConstants {
    /** Elements that are looked at together. */
    private static final long PART = 4096;

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

    /** Whether values are finite once they are rounded to a type. */
    static boolean isFinite(DType dtype, double[] values) {
        for (double value : values) {
            if (!Double.isFinite(Tolerance.rounded(dtype, value))) {
                return false;
            }
        }
        return true;
    }

    /** Whether weights stay finite in their type, whichever of the factors they are multiplied by. */
    static boolean staysFinite(ConstantData weights, double[] factors) {
        double weight = Arrays.stream(largest(0, weights)).max().orElse(0);
        double[] products =
                Arrays.stream(factors).map(factor -> weight * factor).toArray();
        return isFinite(factors) && isFinite(weights.type().dtype(), products);
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
        float[] part = part(type.dtype(), run);
        for (long i = 0; i < outer; i++) {
            for (long j = 0; j < size; j++) {
                double factor = factors[(int) (i / each * size + j)];
                scale(type.dtype(), from, to, (i * size + j) * run, run, factor, part);
            }
        }
        return new ConstantData.Dense(type, to);
    }

    /** Where runs of f32 pass through: an array's loop is fast before the JVM has compiled those over segments. */
    private static float[] part(DType dtype, long run) {
        return new float[dtype == DType.F32 ? (int) Math.min(run, PART) : 0];
    }

    private static void scale(
            DType dtype, MemorySegment from, MemorySegment to, long first, long count, double factor, float[] part) {
        if (part.length == 0) {
            for (long i = first; i < first + count; i++) {
                Elements.setDouble(dtype, to, i, Elements.getDouble(dtype, from, i) * factor);
            }
            return;
        }
        for (long done = 0; done < count; done += part.length) {
            int now = (int) Math.min(part.length, count - done);
            long at = (first + done) * Float.BYTES;
            MemorySegment.copy(from, FLOATS, at, part, 0, now);
            for (int i = 0; i < now; i++) {
                part[i] = (float) (part[i] * factor);
            }
            MemorySegment.copy(part, 0, to, FLOATS, at, now);
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
        float[] part = part(type.dtype(), run);
        long runs = shape.elements(0, axis + 1);
        for (long i = 0; i < runs; i++) {
            int at = (int) (i % size);
            largest[at] = Math.max(largest[at], largest(type.dtype(), from, i * run, run, part));
        }
        return largest;
    }

    /** Of a run of elements, those of f32 by way of an array. */
    private static double largest(DType dtype, MemorySegment from, long first, long count, float[] part) {
        double largest = 0;
        if (part.length == 0) {
            for (long i = first; i < first + count; i++) {
                largest = Math.max(largest, Math.abs(Elements.getDouble(dtype, from, i)));
            }
            return largest;
        }
        for (long done = 0; done < count; done += part.length) {
            int now = (int) Math.min(part.length, count - done);
            MemorySegment.copy(from, FLOATS, (first + done) * Float.BYTES, part, 0, now);
            float most = 0;
            for (int i = 0; i < now; i++) {
                most = Math.max(most, Math.abs(part[i]));
            }
            largest = Math.max(largest, most);
        }
        return largest;
    }
}
