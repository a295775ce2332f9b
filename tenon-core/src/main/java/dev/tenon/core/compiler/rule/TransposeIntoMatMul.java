package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code matmul(a, transpose(b)) → matmul with the operand's flag flipped}, for each operand. What is left of the
 * transpose keeps the innermost axis in place, so it moves whole rows (or, if it swaps nothing else, goes away).
 */
final class TransposeIntoMatMul implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(MatMul.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!(node.op() instanceof MatMul op)) {
            return null;
        }
        Value a = swapped(node.input(0), into);
        Value b = swapped(node.input(1), into);
        if (a == null && b == null) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(node.inputs()));
        if (a != null) {
            operands.set(0, a);
        }
        if (b != null) {
            operands.set(1, b);
        }
        MatMul flipped = new MatMul(op.transposeA() ^ (a != null), op.transposeB() ^ (b != null), op.epilogue());
        return into.addAll(flipped, operands);
    }

    /** The operand with its last two axes swapped, where that spares a transpose of the innermost axis. */
    private static @Nullable Value swapped(Value operand, Rewriter into) {
        Node producer = Match.producer(operand);
        if (producer == null || !(producer.op() instanceof Transpose(List<Integer> permutation))) {
            return null;
        }
        int rank = permutation.size();
        boolean innermostMoved = permutation.getLast() != rank - 1;
        if (!innermostMoved || permutation.get(rank - 2) != rank - 1) {
            return null;
        }
        List<Integer> rest = new ArrayList<>(permutation);
        Collections.swap(rest, rank - 1, rank - 2);
        return into.add(new Transpose(rest), into.map(producer.input(0)));
    }
}
