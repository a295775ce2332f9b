package dev.tenon.core.compiler;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of small vectors of sizes while named dims have no numbers. It gives deferred operations types of named
 * dims, and finds the first of several vectors that have the same elements whatever numbers the names get.
 *
 * <p>The types hold where the number of each name is 1 or more, and at most its limit, if it has one: see
 * {@link #limits}. Used for one walk over a graph.
 */
final class SymbolicSizes {
    /** Vectors of sizes are as short as ranks; a longer one is data. */
    private static final long MAX_ELEMENTS = 64;

    /** The elements of a vector or scalar, null where unknown. */
    private record Vector(List<Long> shape, List<Monomial> elements) {}

    private final Map<Value, @Nullable Monomial[]> elements = new HashMap<>();
    private final Map<Vector, Value> firsts = new HashMap<>();
    private final Map<String, Long> limits = new HashMap<>();

    /** The greatest number of some names up to which the types hold. */
    Map<String, Long> limits() {
        return limits;
    }

    /** The value to use for one: the first that has the same elements. */
    Value first(Value value) {
        @Nullable Monomial[] all = elements.get(value);
        if (all == null || value.constant() != null || Arrays.asList(all).contains(null)) {
            return value;
        }
        List<Monomial> known = new ArrayList<>();
        for (Monomial element : all) {
            if (element != null) {
                known.add(element);
            }
        }
        List<Long> shape = Arrays.stream(value.shape().sizes()).boxed().toList();
        return firsts.computeIfAbsent(new Vector(shape, known), _ -> value);
    }

    /** The constant that a value is whatever numbers the names get; null where its elements depend on the names. */
    @Nullable
    ConstantData constant(Value value) {
        @Nullable Monomial[] all = elements.get(value);
        if (all == null) {
            return null;
        }
        long[] numbers = new long[all.length];
        for (int i = 0; i < all.length; i++) {
            Monomial element = all[i];
            if (element == null || !element.isNumber()) {
                return null;
            }
            numbers[i] = element.factor();
        }
        return NdArray.of(value.type(), numbers).toConstant();
    }

    /** Notes what a node's result holds, if it is a vector of sizes. */
    void note(Op op, List<Value> operands, Value result) {
        if (result.dtype() != DType.I64
                || !result.shape().isConcrete()
                || result.shape().rank() > 1
                || result.shape().elements() > MAX_ELEMENTS) {
            return;
        }
        @Nullable Monomial[] made = elements(op, operands);
        if (made != null && made.length == result.shape().elements()) {
            elements.put(result, made);
        }
    }

    private @Nullable Monomial @Nullable [] elements(Op op, List<Value> operands) {
        return switch (op) {
            case ShapeOf(long start, long end) -> sizes(operands.getFirst().shape(), start, end);
            case Reshape _ -> of(operands.getFirst());
            case Cast(DType type, boolean _) when type == DType.I64 -> of(operands.getFirst());
            case Concat _ -> joined(operands);
            case Gather _ -> gathered(of(operands.getFirst()), operands.get(1));
            case Slice slice -> sliced(of(operands.getFirst()), slice);
            case Binary(BinaryFn fn) when fn == BinaryFn.MUL -> product(of(operands.get(0)), of(operands.get(1)));
            default -> null;
        };
    }

    /** The elements of a value of sizes; null for any other value. */
    private @Nullable Monomial @Nullable [] of(Value value) {
        ConstantData data = value.constant();
        if (data == null) {
            return elements.get(value);
        }
        Shape shape = data.type().shape();
        if (data.type().dtype() != DType.I64 || shape.rank() > 1 || shape.elements() > MAX_ELEMENTS) {
            return null;
        }
        long[] numbers = NdArray.of(data).toLongs();
        @Nullable Monomial[] all = new @Nullable Monomial[numbers.length];
        Arrays.setAll(all, i -> Monomial.of(numbers[i]));
        return all;
    }

    private static @Nullable Monomial @Nullable [] sizes(Shape x, long start, long end) {
        if (!x.isRanked()) {
            return null;
        }
        int from = Math.clamp(start < 0 ? start + x.rank() : start, 0, x.rank());
        int to = Math.clamp(end < 0 ? end + x.rank() : end, from, x.rank());
        @Nullable Monomial[] all = new @Nullable Monomial[to - from];
        Arrays.setAll(all, i -> Monomial.of(x.dim(from + i)));
        return all;
    }

    private @Nullable Monomial @Nullable [] joined(List<Value> operands) {
        List<@Nullable Monomial> all = new ArrayList<>();
        for (Value operand : operands) {
            @Nullable Monomial[] part = of(operand);
            if (part == null) {
                return null;
            }
            all.addAll(Arrays.asList(part));
        }
        return all.toArray(Monomial[]::new);
    }

    private static @Nullable Monomial @Nullable [] gathered(@Nullable Monomial @Nullable [] data, Value indices) {
        ConstantData chosen = indices.constant();
        if (data == null || chosen == null || chosen.type().shape().elements() > MAX_ELEMENTS) {
            return null;
        }
        long[] at = NdArray.of(chosen).toLongs();
        @Nullable Monomial[] all = new @Nullable Monomial[at.length];
        for (int i = 0; i < at.length; i++) {
            long index = at[i] < 0 ? at[i] + data.length : at[i];
            if (index < 0 || index >= data.length) {
                return null;
            }
            all[i] = data[(int) index];
        }
        return all;
    }

    private static @Nullable Monomial @Nullable [] sliced(@Nullable Monomial @Nullable [] data, Slice slice) {
        if (data == null || slice.sizes().size() != 1) {
            return null;
        }
        @Nullable
        Monomial[] all =
                new @Nullable Monomial[SizeMath.toInt("slice", slice.sizes().getFirst())];
        for (int i = 0; i < all.length; i++) {
            all[i] = data[(int) (slice.starts().getFirst() + i * slice.steps().getFirst())];
        }
        return all;
    }

    private static @Nullable Monomial @Nullable [] product(
            @Nullable Monomial @Nullable [] a, @Nullable Monomial @Nullable [] b) {
        if (a == null || b == null || (a.length != b.length && a.length != 1 && b.length != 1)) {
            return null;
        }
        @Nullable Monomial[] all = new @Nullable Monomial[a.length == 1 ? b.length : a.length];
        for (int i = 0; i < all.length; i++) {
            Monomial x = a[a.length == 1 ? 0 : i];
            Monomial y = b[b.length == 1 ? 0 : i];
            all[i] = x == null || y == null ? null : x.times(y);
        }
        return all;
    }

    /** The types of an operation's results, as far as their sizes are known. */
    List<TensorType> types(Op op, List<Value> operands) {
        List<TensorType> inferred = op.infer(GraphBuilder.types(operands));
        if (op instanceof If || op instanceof Scan || op instanceof Control) {
            return inferred.stream().map(SymbolicSizes::withoutNames).toList();
        }
        TensorType refined = op instanceof Deferred deferred ? refined(deferred, operands) : null;
        return refined == null ? inferred : List.of(refined);
    }

    /** A type from a graph within an operation: its names are that graph's, and have the numbers of its own inputs. */
    private static TensorType withoutNames(TensorType type) {
        if (!type.shape().isRanked()) {
            return type;
        }
        List<Dim> dims = new ArrayList<>();
        for (Dim dim : type.shape().dims()) {
            dims.add(dim instanceof Dim.Named ? Dim.unknown() : dim);
        }
        return new TensorType(type.dtype(), Shape.of(dims));
    }

    /** The type of a deferred operation's result, as far as its sizes are known; null where nothing is. */
    private @Nullable TensorType refined(Deferred op, List<Value> operands) {
        Value x = operands.getFirst();
        Shape shape = switch (op) {
            case ReshapeTo(boolean allowZero) -> reshaped(x.shape(), of(operands.get(1)), allowZero);
            case ExpandTo _ -> expanded(x.shape(), of(operands.get(1)));
            case FillTo _ -> shape(of(x));
            case SliceBy slice -> sliced(slice, operands);
            case UnsqueezeAxes _ -> unsqueezed(x.shape(), operands.get(1).constant());
            default -> null;
        };
        DType dtype = op instanceof FillTo fill ? fill.element().type().dtype() : x.dtype();
        return shape == null ? null : new TensorType(dtype, shape);
    }

    private static @Nullable Shape shape(@Nullable Monomial @Nullable [] sizes) {
        if (sizes == null) {
            return null;
        }
        Dim[] dims = new Dim[sizes.length];
        Arrays.setAll(dims, axis -> Monomial.dim(sizes[axis]));
        return Shape.of(dims);
    }

    private static @Nullable Shape reshaped(Shape x, @Nullable Monomial @Nullable [] sizes, boolean allowZero) {
        if (sizes == null || !x.isRanked()) {
            return null;
        }
        @Nullable Monomial[] wanted = sizes.clone();
        Monomial rest = Monomial.elements(x);
        int hole = -1;
        for (int axis = 0; axis < wanted.length; axis++) {
            Monomial size = wanted[axis];
            if (size != null && size.is(0) && !allowZero) {
                size = axis < x.rank() ? Monomial.of(x.dim(axis)) : null;
                wanted[axis] = size;
            }
            if (size != null && size.is(-1)) {
                hole = axis;
            } else {
                rest = rest == null || size == null ? null : rest.over(size);
            }
        }
        if (hole >= 0) {
            wanted[hole] = rest;
        }
        return shape(wanted);
    }

    private static @Nullable Shape expanded(Shape x, @Nullable Monomial @Nullable [] sizes) {
        Shape wanted = shape(sizes);
        if (wanted == null || !x.isRanked()) {
            return null;
        }
        try {
            return Shape.broadcast(x, wanted);
        } catch (ShapeException _) {
            return null; // reported where the operation is resolved
        }
    }

    private static @Nullable Shape unsqueezed(Shape x, @Nullable ConstantData axes) {
        if (axes == null || !x.isRanked()) {
            return null;
        }
        long[] added = NdArray.of(axes).toLongs();
        int rank = x.rank() + added.length;
        Set<Long> ones = new HashSet<>();
        for (long axis : added) {
            ones.add(axis < 0 ? axis + rank : axis);
        }
        List<Dim> dims = new ArrayList<>();
        int from = 0;
        for (long axis = 0; axis < rank; axis++) {
            if (ones.remove(axis)) {
                dims.add(Dim.of(1));
            } else if (from < x.rank()) {
                dims.add(x.dim(from++));
            }
        }
        return dims.size() == rank && ones.isEmpty() ? Shape.of(dims) : null;
    }

    private @Nullable Shape sliced(SliceBy op, List<Value> operands) {
        Shape x = operands.getFirst().shape();
        @Nullable Monomial[] from = of(operands.get(1));
        @Nullable Monomial[] to = of(operands.get(2));
        @Nullable Monomial[] axes = op.axes() ? of(operands.get(3)) : null;
        @Nullable Monomial[] steps = op.steps() ? of(operands.getLast()) : new Monomial[0];
        if (!x.isRanked() || from == null || to == null || steps == null || (op.axes() && axes == null)) {
            return null;
        }
        if (!Arrays.stream(steps).allMatch(step -> step != null && step.is(1))) {
            return null;
        }
        Shape y = x;
        for (int i = 0; i < from.length; i++) {
            Monomial named = axes == null ? Monomial.of(i) : axes[i];
            if (named == null || !named.isNumber()) {
                return null;
            }
            long axis = named.factor() < 0 ? named.factor() + x.rank() : named.factor();
            if (axis < 0 || axis >= x.rank()) {
                return null;
            }
            y = y.with((int) axis, cut(x.dim((int) axis), from[i], to[i]));
        }
        return y;
    }

    /** The size of an axis between two indices. */
    private Dim cut(Dim axis, @Nullable Monomial from, @Nullable Monomial to) {
        if (from == null || to == null || !from.is(0)) {
            return Dim.unknown();
        }
        Dim wanted = Monomial.dim(to);
        if (axis.isFixed() && wanted.isFixed()) {
            return Dim.of(Math.min(axis.size(), wanted.size()));
        }
        if (axis.isFixed() && wanted instanceof Dim.Named(String name)) {
            limits.merge(name, axis.size(), Math::min);
            return wanted;
        }
        if (axis instanceof Dim.Named(String name) && wanted.isFixed()) {
            if (wanted.size() < Integer.MAX_VALUE) {
                return Dim.unknown();
            }
            limits.merge(name, wanted.size(), Math::min);
            return axis;
        }
        return wanted.equals(axis) ? axis : Dim.unknown();
    }
}
