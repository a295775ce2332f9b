package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code attention(q, k, v, f(expand(mask))) → attention(q, k, v, f(mask))}: an attention repeats its mask by itself,
 * and one without a dim of queries is smaller, and lets kernels that want the same mask for all queries take it.
 * {@code f} are conjunctions with what is always true, choices between single elements, sums and products with them,
 * and casts.
 */
public final class NarrowMasks implements Pass {
    /** Stateless. */
    public NarrowMasks() {}

    @Override
    public String name() {
        return "narrow-masks";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (context.claimsNothing()) {
            return graph;
        }
        Map<Value, Optional<Value>> made = new HashMap<>(); // layers share a mask
        return Rewriter.rewrite(graph, Set.of(PlainAttention.class), (node, into) -> rewrite(node, made, into));
    }

    private static @Nullable List<Value> rewrite(Node node, Map<Value, Optional<Value>> made, Rewriter into) {
        if (!(node.op() instanceof PlainAttention op) || !op.mask()) {
            return null;
        }
        Value mask = node.inputs().getLast();
        Value narrow = made.computeIfAbsent(mask, _ -> Optional.ofNullable(narrow(mask, into)))
                .orElse(null);
        if (narrow == null || !repeats(narrow.shape(), mask.shape())) {
            return null;
        }
        List<Value> operands =
                new ArrayList<>(into.map(node.inputs().subList(0, node.inputs().size() - 1)));
        operands.add(narrow);
        return into.addAll(op, operands);
    }

    /** Whether a shape is another one with some dims of 1. */
    private static boolean repeats(Shape narrow, Shape wide) {
        return narrow.isRanked()
                && wide.isRanked()
                && narrow.rank() <= wide.rank()
                && Shape.broadcast(narrow, wide).mustEqual(wide);
    }

    /** What broadcasts to the same elements; null where nothing narrower is known. */
    private static @Nullable Value narrow(Value value, Rewriter into) {
        Node node = Match.producer(value);
        return node == null
                ? null
                : switch (node.op()) {
                    case Expand _, ExpandTo _ -> or(narrow(node.input(0), into), node.input(0), into);
                    case Cast cast -> {
                        Value x = narrow(node.input(0), into);
                        yield x == null ? null : into.add(cast, x);
                    }
                    case Where where -> {
                        Value choice =
                                isSingle(node.input(1)) && isSingle(node.input(2)) ? narrow(node.input(0), into) : null;
                        yield choice == null
                                ? null
                                : into.add(where, choice, into.map(node.input(1)), into.map(node.input(2)));
                    }
                    case Binary binary -> binary(binary, node, into);
                    default -> null;
                };
    }

    private static @Nullable Value binary(Binary op, Node node, Rewriter into) {
        for (int side = 0; side < 2; side++) {
            Value one = node.input(side);
            Value other = node.input(1 - side);
            if (op.fn() == BinaryFn.AND && Match.isAll(one, 1)) {
                return or(narrow(other, into), other, into);
            }
            Value narrow = isSingle(one) ? narrow(other, into) : null;
            if (narrow != null) {
                Value same = into.map(one);
                return side == 0 ? into.add(op, same, narrow) : into.add(op, narrow, same);
            }
        }
        return null;
    }

    private static Value or(@Nullable Value narrow, Value old, Rewriter into) {
        return narrow != null ? narrow : into.map(old);
    }

    private static boolean isSingle(Value value) {
        return value.shape().isConcrete() && value.shape().elements() == 1;
    }
}
