package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code cast(cast(x)) → x} where x is f16, bf16 or f32 and the type between, f32 or f64, holds all its values. */
final class CastsThereAndBack implements Rule {
    @Override
    public Set<Class<? extends Op>> startsAt() {
        return Set.of(Cast.class);
    }

    @Override
    public @Nullable List<Value> apply(Node node, Rewriter into) {
        if (!(node.op() instanceof Cast)) {
            return null;
        }
        Node first = Match.producer(node.input(0));
        if (first == null || !(first.op() instanceof Cast)) {
            return null;
        }
        Value x = first.input(0);
        DType between = first.output().dtype();
        boolean holds = switch (x.dtype()) {
            case F16, BF16 -> between == DType.F32 || between == DType.F64;
            case F32 -> between == DType.F64;
            default -> false;
        };
        return holds && x.type().mustEqual(node.output().type()) ? List.of(into.map(x)) : null;
    }
}
