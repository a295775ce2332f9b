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
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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

    /** A dense copy, {@code factors[i]} times what has index i of the axis; null where one of them is not finite. */
    static @Nullable ConstantData along(int axis, ConstantData weights, double[] factors) {
        Shape shape = weights.type().shape();
        return grouped(weights, factors, axis, shape.elements(0, axis));
    }

    /**
     * A dense copy of the weights of a transposed convolution, whose output channels are the second dim of each group;
     * null where one of them is not finite.
     */
    static @Nullable ConstantData ofTransposed(ConstantData weights, double[] factors, long groups) {
        Shape shape = weights.type().shape();
        return grouped(weights, factors, 1, shape.size(0) / groups);
    }

    /** @param each indices before the axis that share their factors; the next ones have the next factors */
    private static @Nullable ConstantData grouped(ConstantData weights, double[] factors, int axis, long each) {
        TensorType type = weights.type();
        Shape shape = type.shape();
        long outer = shape.elements(0, axis);
        long size = shape.size(axis);
        long run = shape.elements(axis + 1, shape.rank());
        Scaling scaling = new Scaling(weights, part(type.dtype(), run));
        for (long i = 0; i < outer; i++) {
            for (long j = 0; j < size; j++) {
                double factor = factors[(int) (i / each * size + j)];
                if (!scaling.scale((i * size + j) * run, run, factor)) {
                    return null;
                }
            }
        }
        ConstantData.Dense scaled = new ConstantData.Dense(type, scaling.to);
        FiniteWeights.found(scaled);
        return scaled;
    }

    /** Where runs of f32 pass through: an array's loop is fast before the JVM has compiled those over segments. */
    private static float[] part(DType dtype, long run) {
        return new float[dtype == DType.F32 ? (int) Math.min(run, PART) : 0];
    }

    /** A constant that is scaled run by run. Used by one thread. */
    private static final class Scaling {
        final MemorySegment to;
        private final DType dtype;
        private final float[] part;
        /** Null where every element is the same, of which there is nothing to read. */
        private final @Nullable MemorySegment from;

        private final float every;

        Scaling(ConstantData weights, float[] part) {
            this.dtype = weights.type().dtype();
            this.part = part;
            boolean splat = part.length > 0 && weights instanceof ConstantData.Splat;
            this.from = splat ? null : weights.elements();
            this.every = splat ? Float.intBitsToFloat((int) ((ConstantData.Splat) weights).element()) : 0;
            this.to = HostMemory.allocate(weights.type().bytes(), 64);
        }

        /** @return whether all results are finite */
        boolean scale(long first, long count, double factor) {
            return part.length == 0 ? scaleOneByOne(first, count, factor) : scaleInParts(first, count, factor);
        }

        private boolean scaleOneByOne(long first, long count, double factor) {
            MemorySegment source = Objects.requireNonNull(from);
            double nothing = 0;
            for (long i = first; i < first + count; i++) {
                Elements.setDouble(dtype, to, i, Elements.getDouble(dtype, source, i) * factor);
                nothing += 0 * Elements.getDouble(dtype, to, i); // NaN for what is not finite
            }
            return nothing == 0;
        }

        private boolean scaleInParts(long first, long count, double factor) {
            float nothing = 0;
            for (long done = 0; done < count; done += part.length) {
                int now = (int) Math.min(part.length, count - done);
                long at = (first + done) * Float.BYTES;
                if (from == null) {
                    Arrays.fill(part, every);
                } else {
                    MemorySegment.copy(from, FLOATS, at, part, 0, now);
                }
                for (int i = 0; i < now; i++) {
                    part[i] = (float) (part[i] * factor);
                    nothing += 0 * part[i];
                }
                MemorySegment.copy(part, 0, to, FLOATS, at, now);
            }
            return nothing == 0;
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
