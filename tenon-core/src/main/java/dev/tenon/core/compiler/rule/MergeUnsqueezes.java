package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code unsqueeze_axes(unsqueeze_axes(x)) → unsqueeze_axes(x)} of constant axes. Plans then have one reshape, and
 * {@link MergeReshapes} finds nothing to do in each of them.
 */
final class MergeUnsqueezes implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(UnsqueezeAxes.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        boolean[] outer = added(node);
        Node before = outer == null ? null : Match.producer(node.input(0));
        boolean[] inner = before == null ? null : added(before);
        if (outer == null || before == null || inner == null) {
            return null;
        }
        List<Long> axes = new ArrayList<>();
        int from = 0;
        for (int axis = 0; axis < outer.length; axis++) {
            if (outer[axis] || inner[from++]) {
                axes.add((long) axis);
            }
        }
        NdArray all = NdArray.ofLongs(axes.stream().mapToLong(axis -> axis).toArray());
        List<Value> operands = List.of(into.map(before.input(0)), into.constant(all.toConstant()));
        return into.replace(node, new UnsqueezeAxes(), operands);
    }

    /** By axis of the result, whether a node inserts it; null for other nodes and where this is not known. */
    private static boolean @Nullable [] added(Node node) {
        ConstantData data = node.op() instanceof UnsqueezeAxes ? node.input(1).constant() : null;
        if (data == null
                || !node.input(0).shape().isRanked()
                || !node.output().shape().isRanked()) {
            return null;
        }
        boolean[] added = new boolean[node.output().shape().rank()];
        for (long axis : NdArray.of(data).toLongs()) {
            added[node.output().shape().axis(axis)] = true;
        }
        return added;
    }
}
