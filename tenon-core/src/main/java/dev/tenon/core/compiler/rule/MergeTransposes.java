package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.LongLists;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code transpose(transpose(x)) → transpose(x)}; {@code transpose(x) → reshape(x)} where only axes of size 1 move. */
final class MergeTransposes implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Transpose.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!(node.op() instanceof Transpose(List<Integer> permutation))) {
            return null;
        }
        Node before = Match.producer(node.input(0));
        if (before != null && before.op() instanceof Transpose(List<Integer> first)) {
            Transpose merged =
                    new Transpose(permutation.stream().map(first::get).toList());
            return into.addAll(merged, List.of(into.map(before.input(0))));
        }
        if (node.output().shape().isConcrete() && movesNothing(node, permutation)) {
            List<Long> sizes = LongLists.of(node.output().shape().sizes());
            return into.addAll(new Reshape(sizes), List.of(into.map(node.input(0))));
        }
        return null;
    }

    private static boolean movesNothing(Node node, List<Integer> permutation) {
        int last = -1;
        for (int i = 0; i < permutation.size(); i++) {
            int axis = permutation.get(i);
            if (node.input(0).shape().size(axis) != 1) {
                if (axis < last) {
                    return false;
                }
                last = axis;
            }
        }
        return true;
    }
}
