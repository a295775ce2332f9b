package dev.tenon.core.ir.rule;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import java.util.List;
import java.util.function.Supplier;

/**
 * Checks of single operands for the operations that have many different ones, beside those of {@link Rules}; each
 * message starts with the operation's name.
 */
public final class Expect {
    private Expect() {}

    /** @throws ShapeException unless it holds */
    public static void shape(boolean holds, String op, Supplier<String> message) {
        if (!holds) {
            throw new ShapeException(op + ": " + message.get());
        }
    }

    /** @throws DTypeException unless it holds */
    public static void dtype(boolean holds, String op, Supplier<String> message) {
        if (!holds) {
            throw new DTypeException(op + ": " + message.get());
        }
    }

    /** The dim that an axis of an operand is, which must be {@code wanted}; the more precise of the two. */
    public static Dim dim(String op, String operand, Shape shape, int axis, Dim wanted) {
        Dim has = shape.dim(axis);
        shape(
                has.mayEqual(wanted),
                op,
                () -> operand + " " + shape + " does not fit; expected " + operand + " dim " + axis + " = " + wanted);
        return wanted.merge(has);
    }

    /** That an operand has a shape. */
    public static void same(String op, String operand, Shape shape, Shape wanted) {
        shape(shape.mayEqual(wanted), op, () -> operand + " has shape " + shape + "; expected " + wanted);
    }

    public static DType floating(String op, String operand, DType dtype) {
        dtype(dtype.isFloat(), op, () -> operand + " is " + dtype + "; expected a float type");
        return dtype;
    }

    public static void same(String op, String operand, DType dtype, DType wanted) {
        dtype(dtype == wanted, op, () -> operand + " is " + dtype + "; expected " + wanted);
    }

    /** Arrays of zeros for all results, to be filled. */
    public static List<NdArray> results(Op op, List<NdArray> inputs) {
        return Rules.results(op, inputs).stream().map(NdArray::zeros).toList();
    }
}
