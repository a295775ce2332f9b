package dev.tenon.mpi;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.collective.reduce.Arithmetic;
import dev.tenon.nativelib.mpi.MpiHandles;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;

/**
 * How a reduction travels: in which of MPI's types elements are carried, and with which of its operations they are
 * folded. Largest and least floats travel as integers in the same order, NaN beyond them all, because MPI's own
 * {@code max} loses NaN when it comes first.
 *
 * @param <A> the array type of the kernel
 */
final class Carrier<A> {
    private final Arithmetic<A> kernel;
    private final ReduceOp op;
    private final boolean ordered;

    private Carrier(Arithmetic<A> kernel, ReduceOp op) {
        this.kernel = kernel;
        this.op = op;
        ordered = (op == ReduceOp.MAX || op == ReduceOp.MIN)
                && (kernel.arrayType() == float[].class || kernel.arrayType() == double[].class);
    }

    static <A> Carrier<A> of(Arithmetic<A> kernel, ReduceOp op) {
        return new Carrier<>(kernel, op);
    }

    int bytes() {
        return kernel.arrayType() == float[].class || kernel.arrayType() == int[].class ? 4 : 8;
    }

    /** MPI's type. */
    long type() {
        return ordered || kernel.arrayType() == int[].class || kernel.arrayType() == long[].class
                ? MpiHandles.integer(bytes())
                : bytes() == 4 ? MpiHandles.float32() : MpiHandles.float64();
    }

    /** MPI's operation. */
    long operation() {
        return MpiHandles.op((op == ReduceOp.MEAN ? ReduceOp.SUM : op).name().toLowerCase(Locale.ROOT));
    }

    /** Elements {@code at} and on of a buffer into the memory that MPI sees. */
    void pack(HostBuffer source, long at, MemorySegment memory, int count) {
        A array = kernel.allocate(count);
        kernel.load(source, at, array, 0, count);
        switch (array) {
            case float[] floats
            when ordered -> {
                int[] codes = new int[count];
                for (int i = 0; i < count; i++) {
                    codes[i] = code(floats[i]);
                }
                MemorySegment.copy(codes, 0, memory, ValueLayout.JAVA_INT, 0, count);
            }
            case double[] doubles
            when ordered -> {
                long[] codes = new long[count];
                for (int i = 0; i < count; i++) {
                    codes[i] = code(doubles[i]);
                }
                MemorySegment.copy(codes, 0, memory, ValueLayout.JAVA_LONG, 0, count);
            }
            case float[] floats -> MemorySegment.copy(floats, 0, memory, ValueLayout.JAVA_FLOAT, 0, count);
            case double[] doubles -> MemorySegment.copy(doubles, 0, memory, ValueLayout.JAVA_DOUBLE, 0, count);
            case int[] ints -> MemorySegment.copy(ints, 0, memory, ValueLayout.JAVA_INT, 0, count);
            case long[] longs -> MemorySegment.copy(longs, 0, memory, ValueLayout.JAVA_LONG, 0, count);
            default -> throw new IllegalStateException("no such array: " + array.getClass());
        }
    }

    /** What MPI left in its memory into elements {@code at} and on of a buffer, finished and rounded. */
    void unpack(MemorySegment memory, HostBuffer target, long at, int count, int world) {
        A array = kernel.allocate(count);
        switch (array) {
            case float[] floats
            when ordered -> {
                for (int i = 0; i < count; i++) {
                    floats[i] = number(memory.getAtIndex(ValueLayout.JAVA_INT, i));
                }
            }
            case double[] doubles
            when ordered -> {
                for (int i = 0; i < count; i++) {
                    doubles[i] = number(memory.getAtIndex(ValueLayout.JAVA_LONG, i));
                }
            }
            case float[] floats -> MemorySegment.copy(memory, ValueLayout.JAVA_FLOAT, 0, floats, 0, count);
            case double[] doubles -> MemorySegment.copy(memory, ValueLayout.JAVA_DOUBLE, 0, doubles, 0, count);
            case int[] ints -> MemorySegment.copy(memory, ValueLayout.JAVA_INT, 0, ints, 0, count);
            case long[] longs -> MemorySegment.copy(memory, ValueLayout.JAVA_LONG, 0, longs, 0, count);
            default -> throw new IllegalStateException("no such array: " + array.getClass());
        }
        kernel.finish(array, 0, count, world);
        kernel.store(array, 0, target, at, count);
    }

    private int code(float value) {
        return Float.isNaN(value)
                ? (op == ReduceOp.MAX ? Integer.MAX_VALUE : Integer.MIN_VALUE)
                : turn(Float.floatToRawIntBits(value));
    }

    private static float number(int code) {
        // both codes of NaN turn into NaNs: 0x7FFFFFFF is one, and so is 0x80000000 turned, 0xFFFFFFFF
        return Float.intBitsToFloat(turn(code));
    }

    private long code(double value) {
        return Double.isNaN(value)
                ? (op == ReduceOp.MAX ? Long.MAX_VALUE : Long.MIN_VALUE)
                : turn(Double.doubleToRawLongBits(value));
    }

    private static double number(long code) {
        return Double.longBitsToDouble(turn(code));
    }

    /** Sign and magnitude to two's complement order, with -0 below +0; and back. */
    private static int turn(int bits) {
        return bits ^ bits >> 31 & Integer.MAX_VALUE;
    }

    private static long turn(long bits) {
        return bits ^ bits >> 63 & Long.MAX_VALUE;
    }
}
