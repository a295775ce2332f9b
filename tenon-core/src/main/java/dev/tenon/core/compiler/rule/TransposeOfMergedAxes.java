package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code reshape(transpose(reshape(x))) → transpose(x)}, where the first reshape merges leading axes, which the
 * transpose leaves in front, and the second takes them apart again: keys of scaled_dot_product_attention are
 * exported so. The number of merged elements may be unknown: the dims behind it say it.
 */
final class TransposeOfMergedAxes implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Reshape.class, ReshapeTo.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        Node transpose = isReshape(node) ? Match.producer(node.input(0)) : null;
        if (transpose == null || !(transpose.op() instanceof Transpose(List<Integer> permutation))) {
            return null;
        }
        Node merge = Match.producer(transpose.input(0));
        if (merge == null || !isReshape(merge)) {
            return null;
        }
        Value x = merge.input(0);
        Shape whole = x.shape();
        Shape merged = merge.output().shape();
        if (!whole.isKnown() || !merged.isRanked()) {
            return null;
        }
        int more = whole.rank() - merged.rank();
        boolean fits = more > 0
                && !permutation.isEmpty()
                && permutation.getFirst() == 0
                && whole.range(more + 1, whole.rank()).mustEqual(merged.range(1, merged.rank()));
        if (!fits) {
            return null;
        }
        List<Integer> axes = new ArrayList<>();
        for (int axis = 0; axis <= more; axis++) {
            axes.add(axis);
        }
        permutation.stream().skip(1).forEach(axis -> axes.add(axis + more));
        Transpose all = new Transpose(axes);
        return all.shapes(List.of(whole)).getFirst().mustEqual(node.output().shape())
                ? into.addAll(all, List.of(into.map(x)))
                : null;
    }

    private static boolean isReshape(Node node) {
        return node.op() instanceof Reshape || node.op() instanceof ReshapeTo;
    }
}
