package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.compiler.rule.Canonicalise;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code x * cos + concat(-x[h..], x[..h]) * sin → rope(x, cos[..h], sin[..h])}, h half the last axis, where both
 * halves of cos and of sin are the same: as constants, or because they are made of {@code concat(angles, angles)}; and
 * where the backend rather runs that than the pieces. Then {@code cast(rope(cast(x)))} of a short type becomes a
 * rotation of x by the same angles, and {@code rope(transpose(x))} becomes {@code transpose(rope(x))}, so that the
 * transposes of heads cancel with those of attention.
 */
public final class SpelledRope implements Pass {
    private static final Rope HALVES = new Rope(false, 0);

    /** What is multiplied with what. */
    private record Factors(Value one, Value other) {}

    /** Angles before a transpose. */
    private record Seen(Value angles, Transpose turn) {}

    @Override
    public String name() {
        return "spelled-rope";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing()) {
            return graph;
        }
        Map<Value, Optional<Value>> halves = new HashMap<>(); // layers share their angles
        Graph fused = Rewriter.rewrite(graph, Set.of(Binary.class), (node, into) -> fuse(node, halves, into, context));
        Graph narrow = Rewriter.rewrite(fused, Set.of(Cast.class), SpelledRope::narrow);
        Map<Seen, Optional<Value>> seen = new HashMap<>(); // queries and keys, too
        Graph turned = Rewriter.rewrite(narrow, Set.of(Rope.class), (node, into) -> beforeTranspose(node, seen, into));
        return turned == graph ? graph : new Canonicalise().apply(turned, context);
    }

    private static @Nullable List<Value> fuse(
            Node node, Map<Value, Optional<Value>> halves, Rewriter into, PassContext context) {
        if (!(node.op() instanceof Binary(BinaryFn fn))
                || fn != BinaryFn.ADD
                || !node.output().dtype().isFloat()) {
            return null;
        }
        for (int side = 0; side < 2; side++) {
            for (Factors plain : factors(node.input(side))) {
                for (Factors swapped : factors(node.input(1 - side))) {
                    if (plain.one.type().mustEqual(node.output().type()) && isSwapped(swapped.one, plain.one)) {
                        Value cos = half(plain.other, halves, into, context);
                        Value sin = half(swapped.other, halves, into, context);
                        if (cos == null || sin == null) {
                            return null;
                        }
                        Value rotated = into.add(HALVES, into.map(plain.one), cos, sin);
                        return context.claimed(rotated) ? List.of(rotated) : null;
                    }
                }
            }
        }
        return null;
    }

    /** Both ways to see a product. */
    private static List<Factors> factors(Value value) {
        Node node = Match.producer(value);
        return node != null && node.op() instanceof Binary(BinaryFn fn) && fn == BinaryFn.MUL
                ? List.of(new Factors(node.input(0), node.input(1)), new Factors(node.input(1), node.input(0)))
                : List.of();
    }

    /** Whether a value is the second half of x's last axis, negated, before the first. */
    private static boolean isSwapped(Value value, Value x) {
        Node concat = LastPart.producer(value, Concat.class);
        Shape shape = x.shape();
        if (concat == null
                || concat.inputs().size() != 2
                || !value.type().mustEqual(x.type())
                || !shape.isRanked()
                || shape.rank() == 0
                || ((Concat) concat.op()).axis() != shape.rank() - 1
                || !shape.dim(shape.rank() - 1).isFixed()) {
            return false;
        }
        long size = shape.size(shape.rank() - 1);
        Node negated = Match.producer(concat.input(0));
        LastPart second = negated != null && negated.op() instanceof Unary unary && unary.fn() == UnaryFn.NEG
                ? LastPart.of(negated.input(0))
                : null;
        LastPart first = LastPart.of(concat.input(1));
        return size % 2 == 0
                && first != null
                && second != null
                && first.is(x, 0, size / 2)
                && second.is(x, size / 2, size / 2);
    }

    /** The first half of a value's last axis in the new graph; null where the second is not known to be the same. */
    private static @Nullable Value half(
            Value value, Map<Value, Optional<Value>> halves, Rewriter into, PassContext context) {
        Optional<Value> known = halves.get(value);
        if (known == null) {
            known = Optional.ofNullable(madeHalf(value, halves, into, context));
            halves.put(value, known);
        }
        return known.orElse(null);
    }

    private static @Nullable Value madeHalf(
            Value value, Map<Value, Optional<Value>> halves, Rewriter into, PassContext context) {
        if (value.constant() != null) {
            var data = context.constants().firstHalf(value.constant());
            return data == null ? null : into.constant(data);
        }
        Node node = Match.producer(value);
        int last = node != null && value.shape().isRanked() ? value.shape().rank() - 1 : -1;
        if (node == null || last < 0) {
            return null;
        }
        return switch (node.op()) {
            case Concat(int axis)
            when axis == last && node.inputs().size() == 2 && node.input(0).equals(node.input(1)) ->
                into.map(node.input(0));
            case Unary unary -> of(unary, half(node.input(0), halves, into, context), into);
            case Cast cast -> of(cast, half(node.input(0), halves, into, context), into);
            case Binary binary
            when Match.splat(node.input(1)) != null && isSingle(node.input(1)) -> {
                Value half = half(node.input(0), halves, into, context);
                yield half == null ? null : into.add(binary, half, into.map(node.input(1)));
            }
            case Reshape _
            when keepsLast(node) -> {
                Value half = half(node.input(0), halves, into, context);
                long[] sizes = value.shape().sizes();
                sizes[last] /= 2;
                yield half == null ? null : into.reshape(half, sizes);
            }
            default -> null;
        };
    }

    private static @Nullable Value of(dev.tenon.core.ir.Op op, @Nullable Value half, Rewriter into) {
        return half == null ? null : into.add(op, half);
    }

    private static boolean isSingle(Value value) {
        return value.shape().isConcrete() && value.shape().elements() == 1;
    }

    private static boolean keepsLast(Node node) {
        Shape from = node.input(0).shape();
        Shape to = node.output().shape();
        return from.isConcrete()
                && to.isConcrete()
                && from.rank() > 0
                && from.size(from.rank() - 1) == to.size(to.rank() - 1);
    }

    /** {@code cast(rope(cast(x)))} of a short x whose angles stay in f32. */
    private static @Nullable List<Value> narrow(Node node, Rewriter into) {
        if (!(node.op() instanceof Cast)) {
            return null;
        }
        Node rope = LastPart.producer(node.input(0), Rope.class);
        Node wide = rope == null ? null : LastPart.producer(rope.input(0), Cast.class);
        boolean fits = rope != null
                && wide != null
                && rope.output().dtype() == DType.F32
                && (node.output().dtype() == DType.F16 || node.output().dtype() == DType.BF16)
                && wide.input(0).type().mustEqual(node.output().type())
                && into.isPrivate(node.input(0));
        return fits && wide != null && rope != null
                ? List.of(
                        into.add(rope.op(), into.map(wide.input(0)), into.map(rope.input(1)), into.map(rope.input(2))))
                : null;
    }

    /** {@code rope(transpose(x))} whose angles need no transpose of their own. */
    private static @Nullable List<Value> beforeTranspose(Node node, Map<Seen, Optional<Value>> seen, Rewriter into) {
        if (!(node.op() instanceof Rope op) || op.rows() != 0) {
            return null;
        }
        Node transpose = LastPart.producer(node.input(0), Transpose.class);
        if (transpose == null) {
            return null;
        }
        Transpose turn = (Transpose) transpose.op();
        int rank = turn.permutation().size();
        if (turn.permutation().get(rank - 1) != rank - 1) {
            return null;
        }
        Value cos = seen.computeIfAbsent(new Seen(node.input(1), turn), key -> seenBefore(key, into))
                .orElse(null);
        Value sin = seen.computeIfAbsent(new Seen(node.input(2), turn), key -> seenBefore(key, into))
                .orElse(null);
        return cos == null || sin == null
                ? null
                : List.of(into.add(turn, into.add(op, into.map(transpose.input(0)), cos, sin)));
    }

    /** Angles with their axes as before a transpose, where that moves no element. */
    private static Optional<Value> seenBefore(Seen seen, Rewriter into) {
        List<Integer> permutation = seen.turn.permutation();
        Shape shape = seen.angles.shape();
        if (!shape.isConcrete()) {
            return Optional.empty();
        }
        int rank = permutation.size();
        long[] before = new long[rank];
        int last = -1;
        for (int axis = 0; axis < rank; axis++) {
            int own = axis - (rank - shape.rank());
            int place = permutation.get(axis);
            before[place] = own < 0 ? 1 : shape.size(own);
            if (before[place] != 1) {
                if (place < last) {
                    return Optional.empty(); // two axes that are longer than 1 change places
                }
                last = place;
            }
        }
        return Optional.of(into.reshape(into.map(seen.angles), before));
    }
}
