package dev.tenon.core.ir.rule;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.Accepts;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;

/** What the rules of many operations share: checks of types, axes and dims, with messages of one form. */
public final class Rules {
    private static final int MAX_RANK = 64;

    private Rules() {}

    /** The types of an operation's results for those inputs; the first thing that every {@code evaluate} asks. */
    public static List<TensorType> results(Op op, List<NdArray> inputs) {
        return op.infer(inputs.stream().map(NdArray::type).toList());
    }

    /** The only result's array, of zeros, to be filled. */
    public static NdArray result(Op op, List<NdArray> inputs) {
        return NdArray.zeros(results(op, inputs).getFirst());
    }

    /** The one type that all inputs have. */
    public static DType same(String op, List<DType> inputs) {
        DType first = inputs.getFirst();
        for (int i = 1; i < inputs.size(); i++) {
            if (inputs.get(i) != first) {
                throw new DTypeException(op + ": inputs differ in type: " + inputs + "; expected input " + i + " to be "
                        + first + ", as input 0");
            }
        }
        return first;
    }

    /** The one type that all inputs have, a float. */
    public static DType sameFloat(String op, List<DType> inputs) {
        return require(op, "inputs", same(op, inputs), DType::isFloat, "a float type");
    }

    /** The one type that all inputs have, any but bool. */
    public static DType sameNumeric(String op, List<DType> inputs) {
        return require(op, "inputs", same(op, inputs), DType::isNumeric, "a number type");
    }

    public static DType require(String op, String what, DType has, Predicate<DType> accepted, String wanted) {
        if (!accepted.test(has)) {
            throw new DTypeException(op + ": " + what + " of type " + has + "; expected " + wanted);
        }
        return has;
    }

    /** That a function takes the type. */
    public static DType require(String op, String what, DType has, Accepts accepted) {
        return require(op, what, has, accepted::test, accepted.words());
    }

    /** The type of indices: i32 or i64. */
    public static void indices(String op, DType has) {
        require(op, "indices", has, type -> type == DType.I32 || type == DType.I64, "i32 or i64");
    }

    /** The type of a value that sizes, axes or counts come from: i32 or i64. */
    public static void counts(String op, String what, DType has) {
        require(op, what, has, type -> type == DType.I32 || type == DType.I64, "i32 or i64");
    }

    /** The length of a vector. */
    public static Dim vector(String op, String what, Shape has) {
        rank(op, what, has, 1);
        return has.dim(0);
    }

    /** A shape of as many unknown dims as a vector of sizes is long; without a rank while that is not known. */
    public static Shape rankFrom(String op, String what, Shape sizes) {
        Dim count = vector(op, what, sizes);
        return count.isFixed() ? Shape.unknown(axes(op, what, count)) : Shape.unranked();
    }

    /** The number of elements of a vector that has one for each axis: bounded, for models may say anything. */
    public static int axes(String op, String what, Dim count) {
        if (count.size() > MAX_RANK) {
            throw new ShapeException(
                    op + ": " + what + " [" + count + "] are too many; expected at most " + MAX_RANK + " axes");
        }
        return SizeMath.toInt(op, count.size());
    }

    /** The type of index tuples: i64. */
    public static void tuples(String op, String what, DType has) {
        require(op, what, has, type -> type == DType.I64, "i64");
    }

    /** Called by constructors: primitives and composites count axes from the front. */
    public static void fromFront(String op, int axis) {
        if (axis < 0) {
            throw new ShapeException(op + ": axis " + axis + " counts from the back; expected it from the front");
        }
    }

    public static void axis(String op, int axis, Shape shape) {
        if (axis >= shape.rank()) {
            throw new ShapeException(op + ": axis " + axis + " is out of range for shape " + shape + "; expected 0 to "
                    + (shape.rank() - 1));
        }
    }

    /** An axis from either end as one from the front, for the operations that are resolved late. */
    public static int axisOfEither(String op, long axis, int rank) {
        if (axis < -rank || axis >= rank) {
            throw new ShapeException(op + ": axis " + axis + " is out of range for rank " + rank + "; expected " + -rank
                    + " to " + (rank - 1));
        }
        return (int) (axis < 0 ? axis + rank : axis);
    }

    /** Axes from either end as distinct ones from the front, ascending. */
    public static List<Integer> distinctAxes(String op, long[] axes, int rank) {
        TreeSet<Integer> sorted = new TreeSet<>();
        for (long axis : axes) {
            if (!sorted.add(axisOfEither(op, axis, rank))) {
                throw new ShapeException(op + ": axes " + Arrays.toString(axes) + " name axis "
                        + axisOfEither(op, axis, rank) + " twice for rank " + rank + "; expected distinct axes");
            }
        }
        return List.copyOf(sorted);
    }

    public static void rank(String op, String what, Shape shape, int rank) {
        if (shape.rank() != rank) {
            throw new ShapeException(
                    op + ": " + what + " " + shape + " has rank " + shape.rank() + "; expected rank " + rank);
        }
    }

    public static void rankAtLeast(String op, String what, Shape shape, int rank) {
        if (shape.rank() < rank) {
            throw new ShapeException(op + ": " + what + " " + shape + " has rank " + shape.rank() + "; expected rank "
                    + rank + " or more");
        }
    }

    /** A value of one element, of any rank. */
    public static void single(String op, String what, Shape shape) {
        if (!shape.dims().stream().allMatch(dim -> dim.mayEqual(Dim.of(1)))) {
            throw new ShapeException(op + ": " + what + " has shape " + shape + "; expected one element, as in []");
        }
    }

    /** A vector as long as the channels of {@code x}, its second dim. */
    public static void perChannel(String op, String what, Shape vector, Shape x) {
        if (vector.rank() != 1 || !vector.dim(0).mayEqual(x.dim(1))) {
            throw new ShapeException(op + ": " + what + " " + vector + " does not fit the channels of x " + x
                    + "; expected [" + x.dim(1) + "]");
        }
    }

    public static Shape broadcast(String op, List<Shape> shapes) {
        Shape all = shapes.getFirst();
        for (int i = 1; i < shapes.size(); i++) {
            try {
                all = Shape.broadcast(all, shapes.get(i));
            } catch (ShapeException e) {
                throw new ShapeException(
                        op + ": shapes do not broadcast: " + shapes + "; expected equal dims, or 1, from the back", e);
            }
        }
        return all;
    }

    /** That {@code from} broadcasts to {@code to} without making it any larger. */
    public static void broadcastsTo(String op, String what, Shape from, Shape to) {
        boolean fits = from.rank() <= to.rank();
        for (int i = 1; fits && i <= from.rank(); i++) {
            Dim dim = from.dim(from.rank() - i);
            fits = dim.is(1) || dim.mayEqual(to.dim(to.rank() - i));
        }
        if (!fits) {
            throw new ShapeException(op + ": " + what + " " + from + " does not broadcast to " + to
                    + "; expected each dim from the back to be equal, or 1");
        }
    }

    /** Two shapes that must be one, merged dim by dim. */
    public static Shape merge(String op, String whatA, Shape a, String whatB, Shape b) {
        if (!a.mayEqual(b)) {
            throw new ShapeException(
                    op + ": " + whatA + " " + a + " and " + whatB + " " + b + " differ; expected one shape");
        }
        Dim[] dims = new Dim[a.rank()];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = a.dim(i).merge(b.dim(i));
        }
        return Shape.of(dims);
    }

    /** A dim in {@code parts} equal parts. @throws ShapeException where a number does not divide */
    public static Dim divide(String op, String what, Dim dim, long parts) {
        if (!dim.isFixed()) {
            return parts == 1 ? dim : Dim.unknown();
        }
        if (dim.size() % parts != 0) {
            throw new ShapeException(
                    op + ": " + what + " " + dim + " is not a multiple of " + parts + "; expected one that is");
        }
        return Dim.of(dim.size() / parts);
    }
}
