package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code reshape(cast(input)) → cast(reshape(input))}: an encoder casts its mask and gives it dims, and what reads it
 * then is elementwise; behind the reshape, which moves nothing, the cast is part of that.
 */
final class CastBehindReshape implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Reshape.class, ReshapeTo.class, UnsqueezeAxes.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        Node producer = isView(node) ? Match.producer(node.input(0)) : null;
        boolean fits = producer != null
                && producer.op() instanceof Cast
                && producer.input(0).origin() instanceof Value.Origin.Input
                && into.isPrivate(node.input(0));
        if (producer == null || !fits) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(node.inputs()));
        operands.set(0, into.map(producer.input(0)));
        TensorType type = node.output().type(); // may be known better than the operation alone says
        Value reshaped = into.addTyped(
                node.op(), operands, new TensorType(producer.input(0).dtype(), type.shape()));
        return List.of(into.addTyped(producer.op(), List.of(reshaped), type));
    }

    private static boolean isView(Node node) {
        return node.op() instanceof Reshape || node.op() instanceof ReshapeTo || node.op() instanceof UnsqueezeAxes;
    }
}
