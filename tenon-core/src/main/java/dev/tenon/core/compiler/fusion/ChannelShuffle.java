package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Channels in rows and columns, read by columns: a reshape, a transposition and a reshape of images.
 *
 * @param x what is shuffled
 */
record ChannelShuffle(Value x, long rows, long columns) {
    private static final int LEAST_RANK = 3;

    /** The shuffle that ends with a node; null for any other node. */
    static @Nullable ChannelShuffle of(Node node) {
        Shape shape = node.output().shape();
        int rank = shape.rank();
        Node turn = Match.producer(node.input(0));
        if (rank < LEAST_RANK
                || turn == null
                || !(turn.op() instanceof Transpose(List<Integer> permutation))
                || !permutation.equals(columnsFirst(rank + 1))) {
            return null;
        }
        Node split = Match.producer(turn.input(0));
        if (split == null || !(split.op() instanceof Reshape)) {
            return null;
        }
        Shape apart = split.output().shape();
        Value x = split.input(0);
        boolean ofChannels = x.shape().equals(shape)
                && apart.dim(0).equals(shape.dim(0))
                && apart.range(3, rank + 1).equals(shape.range(2, rank));
        return ofChannels ? new ChannelShuffle(x, apart.size(1), apart.size(2)) : null;
    }

    /** The permutation of so many axes that changes the second and the third. */
    private static List<Integer> columnsFirst(int rank) {
        List<Integer> axes = new ArrayList<>(List.of(0, 2, 1));
        for (int axis = 3; axis < rank; axis++) {
            axes.add(axis);
        }
        return axes;
    }

    /** The same of x with its channels innermost. */
    Value last(Value twin, Rewriter into) {
        int rank = twin.shape().rank();
        List<Integer> swapped = new ArrayList<>();
        for (int axis = 0; axis < rank - 1; axis++) {
            swapped.add(axis);
        }
        swapped.add(rank);
        swapped.add(rank - 1);
        Shape places = twin.shape().range(0, rank - 1);
        Value apart = into.reshape(twin, places.concat(Shape.of(rows, columns)).sizes());
        return into.reshape(
                into.add(new Transpose(swapped), apart), twin.shape().sizes());
    }
}
