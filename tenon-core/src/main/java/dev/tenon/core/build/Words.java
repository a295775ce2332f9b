package dev.tenon.core.build;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Checks what the words are given: operands, axes, sizes. Messages start with the operation; exceptions carry it. */
final class Words {
    private Words() {}

    /**
     * Returns the operands of an operation, none of which may be null.
     *
     * @param names of the parameters, in the order of the operands, separated by spaces
     */
    static Value[] operands(String op, String names, Value... operands) {
        String[] each = names.split(" ");
        for (int i = 0; i < operands.length; i++) {
            operand(op, each[i], operands[i]);
        }
        return operands;
    }

    /** Returns an operand that must not be null. */
    static Value operand(String op, String name, Value value) {
        if (value == null) {
            throw InputException.of(name, op + ": argument \"" + name + "\" is null; expected a value")
                    .within(op, List.of());
        }
        return value;
    }

    /** Returns an argument that is no operand, which must not be null. */
    static <T> T option(String op, String name, T value) {
        return named(op, () -> Require.nonNull(value, name));
    }

    /** Makes something of arguments; a fault among them says which operation it was for. */
    static <T> T named(String op, Supplier<T> make) {
        try {
            return make.get();
        } catch (TenonException e) {
            throw e.within(op, List.of());
        }
    }

    /**
     * Returns an axis counted from the front.
     *
     * @throws ShapeException naming the operation when x has no such axis, or no rank
     */
    static int axis(String op, Value x, long axis) {
        return axis(op, axis, x, rank(op, x));
    }

    /** Returns an axis of a shape of that rank, counted from the front; x is what messages name. */
    static int axis(String op, long axis, Value x, int rank) {
        try {
            return Rules.axisOfEither(op, axis, rank);
        } catch (ShapeException e) {
            throw e.within(op, List.of(x.type().toString()));
        }
    }

    /** Returns distinct axes counted from the front, ascending. */
    static List<Integer> axes(String op, Value x, int... axes) {
        return axes(op, x, rank(op, x), axes);
    }

    /** Returns distinct axes of a shape of that rank, ascending; x is what messages name. */
    static List<Integer> axes(String op, Value x, int rank, int... axes) {
        option(op, "axes", axes);
        try {
            return Rules.distinctAxes(op, IntStream.of(axes).asLongStream().toArray(), rank);
        } catch (ShapeException e) {
            throw e.within(op, List.of(x.type().toString()));
        }
    }

    /** Returns the number of axes of x, which must be known. */
    static int rank(String op, Value x) {
        Shape shape = operand(op, "x", x).shape();
        if (!shape.isRanked()) {
            throw shape(op, x, "the number of axes of x is not known; expected a value with a rank");
        }
        return shape.rank();
    }

    /** Returns the sizes or amounts of an operation. */
    static List<Long> longs(String op, String name, long... values) {
        return LongStream.of(option(op, name, values)).boxed().toList();
    }

    /**
     * Returns one number for each of {@code count} dims: those given, or the only one given for all; {@code absent}
     * where none is given.
     */
    static List<Long> each(String op, String name, List<Long> values, int count, long absent) {
        if (values.size() > 1 && values.size() != count) {
            throw new ShapeException(op + ": " + name + " " + values + " has " + values.size() + " elements; expected "
                            + count + ", one for each spatial dim, or one for all")
                    .within(op, List.of());
        }
        return values.size() == count
                ? values
                : Collections.nCopies(count, values.isEmpty() ? (Long) absent : values.getFirst());
    }

    /**
     * Adds a scalar operand of the type of the other one.
     *
     * @throws DTypeException when that integer type does not have the number
     */
    static Value scalar(OpBuilder g, String op, Value other, double value) {
        DType dtype = operand(op, "a", other).dtype();
        if (!dtype.isFloat() && Elements.toDouble(dtype, Elements.fromDouble(dtype, value)) != value) {
            throw new DTypeException(
                            op + ": " + value + " is not a number of type " + dtype + "; expected one, or a cast")
                    .within(op, List.of(other.type().toString()));
        }
        return g.scalar(dtype, value);
    }

    /** Returns a fault of shapes. */
    static TenonException shape(String op, Value x, String message) {
        return new ShapeException(op + ": " + message)
                .within(op, List.of(x.type().toString()));
    }

    /** Returns the sizes for a Reshape to dims of which one at most is no number; that one becomes -1. */
    static long[] sizes(String op, Value x, List<Dim> dims) {
        List<Long> sizes = new ArrayList<>();
        for (Dim dim : dims) {
            sizes.add(dim.isFixed() ? dim.size() : -1);
        }
        if (Collections.frequency(sizes, -1L) > 1) {
            throw shape(
                    op,
                    x,
                    "the result " + Shape.of(dims) + " has more than one dim without a number; expected one at most");
        }
        return sizes.stream().mapToLong(Long::longValue).toArray();
    }
}
