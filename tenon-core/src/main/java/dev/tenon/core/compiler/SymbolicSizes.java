package dev.tenon.core.compiler;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
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
 * The types of results while named dims have no numbers, as far as vectors of sizes say them. It gives deferred
 * operations types of named dims.
 *
 * <p>The types hold where the number of each name is 1 or more, and at most its limit, if it has one: see
 * {@link #limits}. Used for one walk over a graph.
 */
final class SymbolicSizes {
    private final SizeVectors vectors = new SizeVectors();
    private final IndexGrids grids = new IndexGrids(vectors);
    private final Map<String, Long> limits = new HashMap<>();

    /** What is known of the elements of vectors of sizes. */
    SizeVectors vectors() {
        return vectors;
    }

    /** What is known of tensors that count along their axes. */
    IndexGrids grids() {
        return grids;
    }

    /** The greatest number of some names up to which the types hold. */
    Map<String, Long> limits() {
        return limits;
    }

    /** The operands of an operation, but for a reshape those of the reshapes before it, whose result it shows. */
    List<Value> operands(Op op, List<Value> operands) {
        @Nullable Monomial[] sizes = op instanceof ReshapeTo ? vectors.of(operands.get(1)) : null;
        if (sizes == null || !Arrays.stream(sizes).allMatch(size -> size != null && !size.is(0))) {
            return operands; // a size of 0 stands for a dim of the operand
        }
        Value x = operands.getFirst();
        Node before = Match.producer(x);
        while (before != null && isReshape(before.op())) {
            x = before.input(0);
            before = Match.producer(x);
        }
        return List.of(x, operands.get(1));
    }

    private static boolean isReshape(Op op) {
        return op instanceof Reshape || op instanceof ReshapeTo || op instanceof UnsqueezeAxes;
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
            case ReshapeTo(boolean allowZero) -> reshaped(x.shape(), vectors.of(operands.get(1)), allowZero);
            case ExpandTo _ -> expanded(x.shape(), vectors.of(operands.get(1)));
            case FillTo _ -> shape(vectors.of(x));
            case SliceBy slice -> sliced(slice, operands);
            case RangeOf _ -> counted(operands);
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

    /** The shape of the numbers from 0 to below a size, one after another. */
    private @Nullable Shape counted(List<Value> operands) {
        @Nullable Monomial[] to = vectors.of(operands.get(1));
        return to != null && vectors.is(operands.get(0), 0) && vectors.is(operands.get(2), 1) ? shape(to) : null;
    }

    private static @Nullable Shape reshaped(Shape x, @Nullable Monomial @Nullable [] sizes, boolean allowZero) {
        return shape(Monomial.reshaped(x, sizes, allowZero));
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
        @Nullable Monomial[] from = vectors.of(operands.get(1));
        @Nullable Monomial[] to = vectors.of(operands.get(2));
        @Nullable Monomial[] axes = op.axes() ? vectors.of(operands.get(3)) : null;
        @Nullable Monomial[] steps = op.steps() ? vectors.of(operands.getLast()) : new Monomial[0];
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
