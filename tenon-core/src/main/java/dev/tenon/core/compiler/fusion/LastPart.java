package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Split;
import org.jspecify.annotations.Nullable;

/**
 * Neighbouring elements of the last axis of a value, as a slice or a split cuts them out.
 *
 * @param whole what they are cut from
 * @param from the first of them
 * @param size how many
 */
record LastPart(Value whole, long from, long size) {
    /** What a value is a part of; null for any other. */
    static @Nullable LastPart of(Value value) {
        if (!(value.origin() instanceof Value.Origin.Result(Node node, int index))) {
            return null;
        }
        return switch (node.op()) {
            case Slice slice -> ofSlice(slice, node);
            case Split(int axis, var sizes)
            when node.input(0).shape().isRanked()
                    && axis == node.input(0).shape().rank() - 1 ->
                new LastPart(
                        node.input(0),
                        sizes.subList(0, index).stream().mapToLong(size -> size).sum(),
                        sizes.get(index));
            default -> null;
        };
    }

    private static @Nullable LastPart ofSlice(Slice slice, Node node) {
        Shape whole = node.input(0).shape();
        int last = whole.isRanked() ? whole.rank() - 1 : -1;
        if (last < 0 || slice.steps().get(last) != 1) {
            return null;
        }
        for (int axis = 0; axis < last; axis++) {
            boolean all = slice.starts().get(axis) == 0
                    && slice.steps().get(axis) == 1
                    && node.output().shape().range(axis, axis + 1).mustEqual(whole.range(axis, axis + 1));
            if (!all) {
                return null;
            }
        }
        return new LastPart(
                node.input(0), slice.starts().get(last), slice.sizes().get(last));
    }

    /** Whether it is so many elements from there on of a value. */
    boolean is(Value value, long start, long elements) {
        return whole.equals(value) && from == start && size == elements;
    }

    /** The operation of a value; null where it has another kind. */
    static @Nullable Node producer(Value value, Class<?> kind) {
        Node node = Match.producer(value);
        return node != null && kind.isInstance(node.op()) ? node : null;
    }
}
