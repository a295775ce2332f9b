package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code f(x) → x} where f moves, converts or reduces nothing. */
final class DropIdentities implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(
                Concat.class,
                Transpose.class,
                Slice.class,
                Pad.class,
                Reduce.class,
                Copy.class,
                Cast.class,
                BitCast.class,
                Reshape.class,
                ReshapeTo.class,
                Expand.class,
                ExpandTo.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        // the cheaper question first: most nodes are of other operations
        return !node.inputs().isEmpty()
                        && isIdentity(node.op(), node)
                        && node.output().type().mustEqual(node.input(0).type())
                ? List.of(into.map(node.input(0)))
                : null;
    }

    private static boolean isIdentity(Op op, Node node) {
        // whether the order of the elements is unchanged where the type is
        if (op instanceof Concat) {
            return node.inputs().size() == 1;
        }
        if (op instanceof Transpose(List<Integer> permutation)) {
            return isInOrder(permutation);
        }
        if (op instanceof Slice slice) {
            return slice.steps().stream().allMatch(step -> step > 0);
        }
        if (op instanceof Pad pad) {
            return pad.before().stream().allMatch(count -> count == 0)
                    && pad.after().stream().allMatch(count -> count == 0);
        }
        if (op instanceof Reduce reduce) {
            return reduce.axes().isEmpty() && keepsElements(reduce);
        }
        return op instanceof Copy
                || op instanceof Cast
                || op instanceof BitCast
                || op instanceof Reshape
                || op instanceof ReshapeTo
                || op instanceof Expand
                || op instanceof ExpandTo;
    }

    private static boolean keepsElements(Reduce reduce) {
        return switch (reduce.fn()) {
            case SUM, MEAN, MAX, MIN, PROD, ANY, ALL -> true;
            case L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE -> false;
        };
    }

    private static boolean isInOrder(List<Integer> permutation) {
        for (int i = 0; i < permutation.size(); i++) {
            if (permutation.get(i) != i) {
                return false;
            }
        }
        return true;
    }
}
