package dev.tenon.core.compiler;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code a = f(x); b = f(x) → a = f(x)}, b being a. Equal splats count as one value. */
final class CommonSubexpressions implements Pass {
    private record Key(Op op, List<Object> operands) {}

    @Override
    public String name() {
        return "cse";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        Map<Key, List<Value>> seen = new HashMap<>();
        return Rewriter.rewrite(graph, (node, into) -> {
            List<Value> operands = into.map(node.inputs());
            Key key = new Key(
                    node.op(),
                    operands.stream().map(CommonSubexpressions::identity).toList());
            List<Value> before = seen.get(key);
            if (before != null) {
                return before;
            }
            List<Value> results = into.copy(node);
            seen.put(key, results);
            return results;
        });
    }

    private static Object identity(Value value) {
        return value.constant() instanceof ConstantData.Splat splat ? splat : value;
    }
}
