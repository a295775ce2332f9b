package dev.tenon.collective.reduce;

import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.ir.DType;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic of a reduction of one element type, in arrays of the primitive type that it is kept in: loops over
 * equal indices of all arrays, which C2 turns into vector code (it does not where the indices differ).
 *
 * <p>Immutable and thread-safe.
 *
 * @param <A> {@code float[]}, {@code double[]}, {@code int[]} or {@code long[]}
 */
public abstract sealed class Arithmetic<A> permits FloatArithmetic, DoubleArithmetic, IntArithmetic, LongArithmetic {
    final DType dtype;
    final ReduceOp op;

    Arithmetic(DType dtype, ReduceOp op) {
        this.dtype = dtype;
        this.op = op;
    }

    /** The arithmetic for a type. @throws DTypeException for types without any */
    public static Arithmetic<?> of(DType dtype, ReduceOp op) {
        return switch (dtype) {
            case F32, F16, BF16, F8E4M3, F8E5M2 -> new FloatArithmetic(dtype, op);
            case F64 -> new DoubleArithmetic(op);
            case I32 -> op == ReduceOp.MEAN ? new LongArithmetic(dtype, op) : new IntArithmetic(dtype, op);
            case I16, I8, U16, U8 -> new IntArithmetic(dtype, op);
            case I64, U64, U32 -> new LongArithmetic(dtype, op);
            case BOOL, I4, U4 ->
                throw new DTypeException("no " + op + " over ranks of " + dtype + " elements; convert them to i32");
        };
    }

    public abstract Class<A> arrayType();

    public abstract A allocate(int length);

    /** Bytes of an element of the caller's. */
    public final int elementBytes() {
        return dtype.bytes();
    }

    /**
     * The caller's own array, when its elements are what this arithmetic works on: no conversion, and it begins with
     * the buffer's first element.
     */
    public final @Nullable A array(HostBuffer buffer) {
        return keepsElements() ? buffer.array(arrayType()) : null;
    }

    /** Whether an element is kept as it lies in memory. */
    abstract boolean keepsElements();

    /** Elements {@code at} and on of a buffer into {@code array[from]} and on. */
    public abstract void load(HostBuffer source, long at, A array, int from, int count);

    /** {@code array[from]} and on, rounded, into elements {@code at} and on of a buffer. */
    public abstract void store(A array, int from, HostBuffer target, long at, int count);

    /** {@code into[i] = own[i] op other[i]}; {@code into} may be either. */
    public abstract void fold(A into, A own, A other, int from, int to);

    /** {@code into[i] = ((first[i] op second[i]) op third[i]) op fourth[i]}; {@code into} may be any. */
    public final void fold(A into, A first, A second, A third, A fourth, int from, int to) {
        if (op == ReduceOp.SUM || op == ReduceOp.MEAN) {
            sum(into, first, second, third, fourth, from, to);
            return;
        }
        fold(into, second, first, from, to);
        fold(into, third, into, from, to);
        fold(into, fourth, into, from, to);
    }

    /** The sum of four in one pass. */
    abstract void sum(A into, A first, A second, A third, A fourth, int from, int to);

    /** What is left to do when all {@code world} ranks are folded: the division of a mean. */
    public final void finish(A array, int from, int to, int world) {
        if (op == ReduceOp.MEAN) {
            divide(array, from, to, world);
        }
    }

    abstract void divide(A array, int from, int to, int by);
}
