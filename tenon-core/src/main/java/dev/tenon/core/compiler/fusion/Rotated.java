package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.elementwise.Cast;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Queries, keys and values of an attention, [B,L,H,D], before all are made wider or queries and keys are rotated.
 *
 * @param rope a rotation, by which both are rotated alike; null for none
 * @param wider what all go through; null for nothing
 */
record Rotated(
        List<Value> parts, @Nullable Node rope, @Nullable Cast wider) {
    private static final int PARTS = 3;

    /** The operands of an attention of separate ones; null where one is rotated in another way than the other. */
    static @Nullable Rotated of(Node attention, Rewriter into) {
        Value q = attention.input(0);
        Value k = attention.input(1);
        Value v = attention.input(2);
        Cast wider = wider(List.of(q, k, v), into);
        if (wider != null) {
            List<Value> parts = Stream.of(q, k, v)
                    .map(Match::producer)
                    .filter(Objects::nonNull)
                    .map(cast -> cast.input(0))
                    .toList();
            return new Rotated(parts, null, wider);
        }
        Node one = LastPart.producer(q, Rope.class);
        Node other = LastPart.producer(k, Rope.class);
        if (one == null && other == null) {
            return new Rotated(List.of(q, k, v), null, null);
        }
        boolean alike = one != null
                && other != null
                && one.op().equals(other.op())
                && ((Rope) one.op()).rows() == 0
                && one.input(1).equals(other.input(1))
                && one.input(2).equals(other.input(2))
                && into.isPrivate(q)
                && into.isPrivate(k)
                && q.shape().isConcrete()
                && isForAllHeads(one.input(1))
                && isForAllHeads(one.input(2));
        return alike && one != null && other != null
                ? new Rotated(List.of(one.input(0), other.input(0), v), one, null)
                : null;
    }

    /** The cast that makes each of some values, which nothing else reads; null if they have no such cast. */
    private static @Nullable Cast wider(List<Value> values, Rewriter into) {
        Cast first = Match.op(values.getFirst(), Cast.class);
        boolean alike = first != null
                && values.stream()
                        .allMatch(value -> first.equals(Match.op(value, Cast.class)) && into.isPrivate(value));
        return alike ? first : null;
    }

    private static boolean isForAllHeads(Value angles) {
        Shape shape = angles.shape();
        return shape.isRanked()
                && (shape.rank() < 2 || shape.dim(shape.rank() - 2).is(1));
    }

    /** Queries, keys and values in one, [B,L,3,H,D], made wider or with the first two rotated. */
    Value rotate(Value packed, Rewriter into) {
        if (wider != null) {
            return into.add(wider, packed);
        }
        if (rope == null) {
            return packed;
        }
        Shape heads = parts.getFirst().shape();
        long count = heads.size(2);
        Rope old = (Rope) rope.op();
        Value flat = into.reshape(packed, heads.size(0), heads.size(1), PARTS * count, heads.size(3));
        Value turned = into.add(
                new Rope(old.interleaved(), old.rotaryDim(), 2 * count),
                flat,
                into.map(rope.input(1)),
                into.map(rope.input(2)));
        return into.reshape(turned, heads.size(0), heads.size(1), PARTS, count, heads.size(3));
    }
}
