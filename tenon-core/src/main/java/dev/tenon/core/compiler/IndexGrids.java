package dev.tenon.core.compiler;

import dev.tenon.core.build.Ops;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What is known of integer tensors that count along their axes while named dims have no numbers: element [i, j, …] is
 * {@code step0 * i + step1 * j + …}. Exporters write masks with such indices:
 *
 * <pre>
 * gather_nd(mask [b,t], concat(i, j))            → unsqueeze_axes(mask)
 * gather(reshape_to(mask [b,t], [b * t]), t i + j) → unsqueeze_axes(mask)
 * and(i &gt;= 0, x)                                 → expand_to(x)
 * </pre>
 *
 * <p>A plan then computes no indices, and the mask is read as it is. Holds where the number of each name is 1 or more.
 * Used for one walk over a graph.
 */
final class IndexGrids {
    private static final Monomial NONE = Monomial.of(0);
    private static final Monomial ONE = Monomial.of(1);

    private final SizeVectors vectors;
    /** By value of a known shape, the steps of its axes; 0 along axes of size 1. */
    private final Map<Value, List<Monomial>> steps = new HashMap<>();

    /** Conditions that hold for all elements. */
    private final Set<Value> always = new HashSet<>();

    IndexGrids(SizeVectors vectors) {
        this.vectors = vectors;
    }

    /** Notes what a node's result is, if its elements count along its axes or say that others do. */
    void note(Op op, List<Value> operands, Value result) {
        if (!result.shape().isKnown()) {
            return;
        }
        if (op instanceof Compare(CompareFn fn) && holds(fn, operands)) {
            always.add(result);
        }
        List<Monomial> found = result.dtype() == DType.I64 ? steps(op, operands, result.shape()) : null;
        if (found != null) {
            steps.put(result, found);
        }
    }

    private @Nullable List<Monomial> steps(Op op, List<Value> operands, Shape shape) {
        Value x = operands.getFirst();
        return switch (op) {
            case RangeOf _ -> vectors.is(x, 0) && vectors.is(operands.get(2), 1) ? List.of(ONE) : null;
            case UnsqueezeAxes _ -> unsqueezed(steps.get(x), operands.get(1).constant(), shape.rank());
            case ExpandTo _ -> stretched(x, shape);
            case Binary(BinaryFn fn)
            when fn == BinaryFn.ADD -> sum(stretched(x, shape), stretched(operands.get(1), shape));
            case Binary(BinaryFn fn)
            when fn == BinaryFn.MUL -> {
                List<Monomial> multiple = scaled(stretched(x, shape), operands.get(1));
                yield multiple != null ? multiple : scaled(stretched(operands.get(1), shape), x);
            }
            default -> null;
        };
    }

    private static @Nullable List<Monomial> unsqueezed(
            @Nullable List<Monomial> x, @Nullable ConstantData axes, int rank) {
        if (x == null || axes == null) {
            return null;
        }
        List<Integer> added = Rules.distinctAxes("unsqueeze", NdArray.of(axes).toLongs(), rank);
        List<Monomial> all = new ArrayList<>();
        int from = 0;
        for (int axis = 0; axis < rank; axis++) {
            all.add(added.contains(axis) ? NONE : x.get(from++));
        }
        return all;
    }

    /** The steps of a value repeated to a shape; null where they are unknown, or would end before its axis does. */
    private @Nullable List<Monomial> stretched(Value value, Shape shape) {
        List<Monomial> known =
                Match.isAll(value, 0) ? Collections.nCopies(value.shape().rank(), NONE) : steps.get(value);
        if (known == null) {
            return null;
        }
        int lead = shape.rank() - known.size();
        List<Monomial> all = new ArrayList<>(Collections.nCopies(lead, NONE));
        for (int axis = 0; axis < known.size(); axis++) {
            Monomial step = known.get(axis);
            if (!step.is(0) && !value.shape().dim(axis).equals(shape.dim(lead + axis))) {
                return null;
            }
            all.add(step);
        }
        return all;
    }

    private static @Nullable List<Monomial> sum(@Nullable List<Monomial> a, @Nullable List<Monomial> b) {
        if (a == null || b == null) {
            return null;
        }
        List<Monomial> all = new ArrayList<>();
        for (int axis = 0; axis < a.size(); axis++) {
            if (!a.get(axis).is(0) && !b.get(axis).is(0)) {
                return null;
            }
            all.add(a.get(axis).is(0) ? b.get(axis) : a.get(axis));
        }
        return all;
    }

    private @Nullable List<Monomial> scaled(@Nullable List<Monomial> x, Value factor) {
        @Nullable Monomial[] single = x == null ? null : vectors.of(factor);
        if (x == null || single == null || single.length != 1 || single[0] == null) {
            return null;
        }
        List<Monomial> all = new ArrayList<>();
        for (Monomial step : x) {
            Monomial product = step.is(0) ? NONE : step.times(single[0]);
            if (product == null) {
                return null;
            }
            all.add(product.factor() == 0 ? NONE : product);
        }
        return all;
    }

    private boolean holds(CompareFn fn, List<Value> operands) {
        return switch (fn) {
            case GE -> isNatural(operands.get(0)) && isNotPositive(operands.get(1));
            case LE -> isNatural(operands.get(1)) && isNotPositive(operands.get(0));
            default -> false;
        };
    }

    private boolean isNatural(Value value) {
        List<Monomial> known = steps.get(value);
        return known != null && known.stream().allMatch(step -> step.factor() >= 0);
    }

    private static boolean isNotPositive(Value value) {
        Double number = Match.splat(value);
        return number != null && number <= 0;
    }

    /**
     * A value with the elements of an operation's result, made with less; null where none is known.
     *
     * @param shape of the result
     */
    @Nullable
    Value plainer(Op op, List<Value> operands, Shape shape, Ops into) {
        return switch (op) {
            case Binary(BinaryFn fn) when fn == BinaryFn.AND -> conjunction(operands, shape, into);
            case GatherNd(int batchDims) when batchDims == 0 && shape.isKnown() -> pointed(operands, shape, into);
            case Gather(int axis) when axis == 0 -> counted(operands, into);
            default -> null;
        };
    }

    private @Nullable Value conjunction(List<Value> operands, Shape shape, Ops into) {
        for (int side = 0; side < 2; side++) {
            Value one = operands.get(side);
            Value other = operands.get(1 - side);
            boolean holds = always.contains(one);
            if ((holds || Match.isAll(one, 1)) && other.shape().mustEqual(shape)) {
                return other;
            }
            if (holds && shape.isKnown()) {
                Value wide = into.add(new ExpandTo(), other, into.add(new ShapeOf(0, Long.MAX_VALUE), one));
                if (always.contains(other)) {
                    always.add(wide);
                }
                return wide;
            }
        }
        return null;
    }

    /** All elements of a tensor, by a tuple of indices for each. */
    private @Nullable Value pointed(List<Value> operands, Shape shape, Ops into) {
        Value x = operands.getFirst();
        Node tuples = Match.producer(operands.get(1));
        if (tuples == null
                || !(tuples.op() instanceof Concat(int axis))
                || axis != shape.rank()
                || !x.shape().isKnown()
                || x.shape().rank() != tuples.inputs().size()) {
            return null;
        }
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < tuples.inputs().size(); i++) {
            List<Monomial> known = steps.get(tuples.input(i));
            if (known == null || !known.getLast().is(0)) {
                return null;
            }
            List<Integer> counting = counting(known);
            if (counting.size() != 1 || !known.get(counting.getFirst()).equals(ONE)) {
                return null;
            }
            axes.addAll(counting);
        }
        return shows(x.shape(), axes, shape) ? shown(x, axes, shape.rank(), into) : null;
    }

    /** All elements of a tensor that was made one row, by their numbers. */
    private @Nullable Value counted(List<Value> operands, Ops into) {
        Node row = Match.producer(operands.getFirst());
        Shape shape = operands.get(1).shape();
        List<Monomial> known = steps.get(operands.get(1));
        if (known == null || row == null || !(row.op() instanceof ReshapeTo(boolean allowZero))) {
            return null;
        }
        Value x = row.input(0);
        @Nullable Monomial[] sizes = Monomial.reshaped(x.shape(), vectors.of(row.input(1)), allowZero);
        List<Integer> axes = counting(known);
        return sizes != null
                        && isRow(sizes, x.shape())
                        && shows(x.shape(), axes, shape)
                        && isRowMajor(axes.stream().map(known::get).toList(), x.shape())
                ? shown(x, axes, shape.rank() + sizes.length - 1, into)
                : null;
    }

    /** Whether sizes are all elements of a shape, and 1 behind them. */
    private static boolean isRow(@Nullable Monomial[] sizes, Shape x) {
        Monomial all = x.isKnown() ? Monomial.elements(x) : null;
        return all != null
                && sizes.length > 0
                && all.equals(sizes[0])
                && Arrays.stream(sizes).skip(1).allMatch(size -> size != null && size.is(1));
    }

    /** Whether steps, one for each dim of a shape, go from an element to its neighbour. */
    private static boolean isRowMajor(List<Monomial> steps, Shape x) {
        for (int axis = 0; axis < steps.size(); axis++) {
            if (!steps.get(axis).equals(Monomial.elements(x.range(axis + 1, x.rank())))) {
                return false;
            }
        }
        return true;
    }

    private static List<Integer> counting(List<Monomial> steps) {
        List<Integer> axes = new ArrayList<>();
        for (int axis = 0; axis < steps.size(); axis++) {
            if (!steps.get(axis).is(0)) {
                axes.add(axis);
            }
        }
        return axes;
    }

    /** Whether those axes of a shape, in their order, are the dims of x, and the others are 1. */
    private static boolean shows(Shape x, List<Integer> axes, Shape shape) {
        List<Dim> dims = new ArrayList<>();
        int before = -1;
        for (int axis : axes) {
            if (axis <= before) {
                return false;
            }
            dims.add(shape.dim(axis));
            before = axis;
        }
        for (int axis = 0; axis < shape.rank(); axis++) {
            if (!axes.contains(axis) && !shape.dim(axis).is(1)) {
                return false;
            }
        }
        return dims.equals(x.dims());
    }

    /** A value with its dims at those axes of a rank, and 1 elsewhere. */
    private static Value shown(Value x, List<Integer> axes, int rank, Ops into) {
        long[] added = LongStream.range(0, rank)
                .filter(axis -> !axes.contains((int) axis))
                .toArray();
        return added.length == 0
                ? x
                : into.add(
                        new UnsqueezeAxes(),
                        x,
                        into.constant(NdArray.ofLongs(added).toConstant()));
    }
}
