package dev.tenon.core.ir.op;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.List;
import java.util.function.Supplier;

/** The checks that rules of operations have in common; each message starts with the operation's name. */
final class Expect {
    private Expect() {}

    /** @throws ShapeException unless it holds */
    static void shape(boolean holds, String op, Supplier<String> message) {
        if (!holds) {
            throw new ShapeException(op + ": " + message.get());
        }
    }

    /** @throws DTypeException unless it holds */
    static void dtype(boolean holds, String op, Supplier<String> message) {
        if (!holds) {
            throw new DTypeException(op + ": " + message.get());
        }
    }

    static void rank(String op, String operand, Shape shape, int rank) {
        shape(shape.rank() == rank, op, () -> operand + " should have rank " + rank + ", has shape " + shape);
    }

    /** The dim that an axis of an operand is, which must be {@code wanted}; the more precise of the two. */
    static Dim dim(String op, String operand, Shape shape, int axis, Dim wanted) {
        Dim has = shape.dim(axis);
        shape(
                has.mayEqual(wanted),
                op,
                () -> operand + " " + shape + " does not fit; expected " + operand + " dim " + axis + " = " + wanted);
        return wanted.merge(has);
    }

    /** That an operand has a shape. */
    static void same(String op, String operand, Shape shape, Shape wanted) {
        shape(shape.mayEqual(wanted), op, () -> operand + " has shape " + shape + "; expected " + wanted);
    }

    /** That an operand broadcasts to a shape without widening it. */
    static void broadcasts(String op, String operand, Shape shape, Shape wanted) {
        boolean fits = shape.rank() <= wanted.rank();
        for (int i = 1; fits && i <= shape.rank(); i++) {
            Dim dim = shape.dim(shape.rank() - i);
            fits = dim.is(1) || dim.mayEqual(wanted.dim(wanted.rank() - i));
        }
        shape(fits, op, () -> operand + " has shape " + shape + ", which does not broadcast to " + wanted);
    }

    static DType floating(String op, String operand, DType dtype) {
        dtype(dtype.isFloat(), op, () -> operand + " is " + dtype + "; expected a float type");
        return dtype;
    }

    static void same(String op, String operand, DType dtype, DType wanted) {
        dtype(dtype == wanted, op, () -> operand + " is " + dtype + "; expected " + wanted);
    }

    /** That all operands have the first one's type. */
    static void allSame(String op, List<DType> dtypes) {
        dtype(dtypes.stream().allMatch(dtypes.getFirst()::equals), op, () -> "operands differ in type: " + dtypes);
    }

    /** Arrays of zeros for the results that an operation has for those inputs, after its rules have checked them. */
    static List<NdArray> results(Op op, List<NdArray> inputs) {
        List<TensorType> types = op.infer(inputs.stream().map(NdArray::type).toList());
        return types.stream().map(NdArray::zeros).toList();
    }
}
