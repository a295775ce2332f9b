package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code gather(dequantize(table), ids) → dequantize(gather(table, ids))} where one scale serves the whole table: only
 * the rows that are looked up are converted.
 */
final class GatherBeforeDequantize implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Gather.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        Node producer = node.op() instanceof Gather ? Match.producer(node.input(0)) : null;
        if (producer == null || !(producer.op() instanceof Dequantize dequantize)) {
            return null;
        }
        boolean perTensor = producer.inputs().stream()
                .skip(1)
                .allMatch(value -> value.shape().isConcrete() && value.shape().rank() == 0);
        if (!perTensor) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(producer.inputs()));
        operands.set(0, into.add(node.op(), operands.getFirst(), into.map(node.input(1))));
        return into.addAll(dequantize, operands);
    }
}
