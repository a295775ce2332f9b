package dev.tenon.core.compiler;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code a = f(x); b = f(x) → a = f(x)}, b being a. Equal splats and single elements count as one value. */
final class CommonSubexpressions implements Pass {
    /** An operation on operands, which are values or, where they are splats, their data. */
    private static final class Key {
        private final Op op;
        private final Object[] operands;
        private final int hash;

        Key(Op op, List<Value> values) {
            this.op = op;
            this.operands = new Object[values.size()];
            int all = op.getClass().hashCode(); // attributes are compared where the rest is equal
            for (int i = 0; i < operands.length; i++) {
                operands[i] = identity(values.get(i));
                all = 31 * all + operands[i].hashCode();
            }
            this.hash = all;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key
                    && hash == key.hash
                    && Arrays.equals(operands, key.operands)
                    && op.equals(key.op);
        }
    }

    @Override
    public String name() {
        return "cse";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (graph.uses().allLive() && !mayRepeat(graph)) {
            return graph;
        }
        Map<Key, List<Value>> seen = HashMap.newHashMap(graph.nodes().size());
        return Rewriter.rewrite(graph, (node, into) -> {
            Key key = new Key(node.op(), into.map(node.inputs()));
            List<Value> before = seen.get(key);
            if (before != null) {
                return before;
            }
            List<Value> results = into.copy(node);
            seen.put(key, results);
            return results;
        });
    }

    /** Whether two nodes may be equal: of one kind, on the same operands but for constants. */
    private static boolean mayRepeat(Graph graph) {
        Numbering numbering = graph.numbering();
        int results = graph.inputs().size() + graph.constants().size();
        Set<Long> seen = HashSet.newHashSet(graph.nodes().size());
        for (int step = 0; step < graph.nodes().size(); step++) {
            if (!seen.add(sketch(graph.nodes().get(step), step, graph.inputs().size(), results, numbering))) {
                return true;
            }
        }
        return false;
    }

    /** A number that equal nodes share, and others as good as never. */
    private static long sketch(Node node, int step, int inputs, int results, Numbering numbering) {
        long sketch = node.op().getClass().hashCode();
        for (int i = 0; i < node.inputs().size(); i++) {
            int number = numbering.operand(step, i);
            boolean constant = number >= inputs && number < results;
            sketch = 0x9E3779B97F4A7C15L * (sketch + (constant ? 0 : 1 + number));
        }
        return sketch;
    }

    private static Object identity(Value value) {
        ConstantData data = value.constant();
        if (data instanceof ConstantData.Dense one
                && one.type().shape().elements() == 1
                && one.type().dtype().bits() >= Byte.SIZE) {
            return new ConstantData.Splat(one.type(), Elements.bits(one.type().dtype(), one.segment(), 0));
        }
        return data instanceof ConstantData.Splat ? data : value;
    }
}
