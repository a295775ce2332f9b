package dev.tenon.core.compiler;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the elements of small vectors of sizes, and of conditions on them, while named dims have no numbers.
 * Holds where the number of each name is 1 or more. Used for one walk over a graph.
 */
final class SizeVectors {
    /** Vectors of sizes are as short as ranks; a longer one is data. */
    private static final long MAX_ELEMENTS = 64;

    /** A vector or scalar of known elements. */
    private record Vector(DType dtype, List<Long> shape, List<Monomial> elements) {}

    private final Map<Value, @Nullable Monomial[]> elements = new HashMap<>();
    private final Map<Vector, Value> firsts = new HashMap<>();

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
        return firsts.computeIfAbsent(new Vector(value.dtype(), shape, known), _ -> value);
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
        if (!isCounted(result.dtype())
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
            case Binary(BinaryFn fn)
            when fn == BinaryFn.MUL -> paired(of(operands.get(0)), of(operands.get(1)), Monomial::times);
            case Compare(CompareFn fn)
            when fn == CompareFn.EQ -> paired(of(operands.get(0)), of(operands.get(1)), Monomial::equal);
            case Where _ -> chosen(of(operands.get(0)), of(operands.get(1)), of(operands.get(2)));
            case Reduce(ReduceFn fn, List<Integer> axes, boolean _)
            when fn == ReduceFn.PROD && !axes.isEmpty() -> product(of(operands.getFirst()));
            default -> null;
        };
    }

    /** The elements of a vector or scalar, null where unknown; null for any other value. */
    @Nullable
    Monomial @Nullable [] of(Value value) {
        ConstantData data = value.constant();
        if (data == null) {
            return elements.get(value);
        }
        Shape shape = data.type().shape();
        if (!isCounted(data.type().dtype()) || shape.rank() > 1 || shape.elements() > MAX_ELEMENTS) {
            return null;
        }
        long[] numbers = NdArray.of(data).toLongs();
        @Nullable Monomial[] all = new @Nullable Monomial[numbers.length];
        Arrays.setAll(all, i -> Monomial.of(numbers[i]));
        return all;
    }

    /** Whether a value is a single element of that number. */
    boolean is(Value value, long number) {
        @Nullable Monomial[] all = of(value);
        return all != null && all.length == 1 && all[0] != null && all[0].is(number);
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

    /** The elements of two vectors, of which a single element goes with all others. */
    private static @Nullable Monomial @Nullable [] paired(
            @Nullable Monomial @Nullable [] a,
            @Nullable Monomial @Nullable [] b,
            BiFunction<Monomial, Monomial, @Nullable Monomial> function) {
        if (a == null || b == null || (a.length != b.length && a.length != 1 && b.length != 1)) {
            return null;
        }
        @Nullable Monomial[] all = new @Nullable Monomial[a.length == 1 ? b.length : a.length];
        for (int i = 0; i < all.length; i++) {
            Monomial x = a[a.length == 1 ? 0 : i];
            Monomial y = b[b.length == 1 ? 0 : i];
            all[i] = x == null || y == null ? null : function.apply(x, y);
        }
        return all;
    }

    private static @Nullable Monomial @Nullable [] chosen(
            @Nullable Monomial @Nullable [] choice,
            @Nullable Monomial @Nullable [] a,
            @Nullable Monomial @Nullable [] b) {
        if (choice == null || a == null || b == null || a.length != choice.length || b.length != choice.length) {
            return null;
        }
        @Nullable Monomial[] all = new @Nullable Monomial[choice.length];
        for (int i = 0; i < all.length; i++) {
            Monomial first = choice[i];
            all[i] = first == null || !first.isNumber() ? null : first.is(0) ? b[i] : a[i];
        }
        return all;
    }

    private static @Nullable Monomial @Nullable [] product(@Nullable Monomial @Nullable [] factors) {
        if (factors == null) {
            return null;
        }
        Monomial all = Monomial.of(1);
        for (Monomial factor : factors) {
            all = all == null || factor == null ? null : all.times(factor);
        }
        return new @Nullable Monomial[] {all};
    }

    private static boolean isCounted(DType dtype) {
        return dtype == DType.I64 || dtype == DType.BOOL;
    }
}
