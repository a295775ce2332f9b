package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.Ops;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds a graph node by node. A rewrite looks at a node of the source, backwards through {@link Value#origin} as far
 * as it likes, and answers the values of the new graph that take the place of its results; or null, and the node is
 * copied. Nodes that no output needs are left out on the way.
 */
public final class Rewriter implements Ops {
    /** One way to replace a node. */
    @FunctionalInterface
    public interface Rewrite {
        /**
         * The replacements of the node's results, made with {@code into}; null, or what {@link #copy} gave, to keep the
         * node.
         */
        @Nullable
        List<Value> apply(Node node, Rewriter into);
    }

    private final Graph source;
    private final GraphBuilder builder;
    private final Map<Value, Value> mapped = new HashMap<>();
    private final Map<Value, Integer> uses = new HashMap<>();
    private final Set<Value> outputs;
    private String current = "";
    private boolean changed;
    private @Nullable List<Value> copied;

    private Rewriter(Graph source) {
        this.source = source;
        this.builder = new GraphBuilder(source.name());
        this.outputs = new HashSet<>(source.outputs().values());
    }

    /** The graph after one walk; the very same object when nothing changed. */
    public static Graph rewrite(Graph source, Rewrite rewrite) {
        return new Rewriter(source).run(rewrite, Set.of());
    }

    /** The graph with a copy of its own for each of the named outputs. */
    public static Graph copyOutputs(Graph source, Set<String> names) {
        return new Rewriter(source).run((node, into) -> null, names);
    }

    @SuppressWarnings("ReferenceEquality") // a node was kept when its results are the very list that copy() gave
    private Graph run(Rewrite rewrite, Set<String> copiedOutputs) {
        Set<Node> live = countUses();
        source.inputs().forEach(value -> mapped.put(value, builder.input(value.name(), value.type())));
        source.parameters()
                .forEach(value -> mapped.put(
                        value,
                        builder.parameter(
                                value.name(), value.dtype(), value.shape().sizes())));
        for (Node node : source.nodes()) {
            if (!live.contains(node)) {
                changed = true;
                continue;
            }
            current = node.name();
            copied = null;
            List<Value> replaced = rewrite.apply(node, this);
            List<Value> results = replaced != null ? replaced : copy(node);
            changed |= results != copied;
            for (int i = 0; i < results.size(); i++) {
                mapped.put(node.outputs().get(i), results.get(i));
            }
        }
        if (!changed && copiedOutputs.isEmpty()) {
            return source;
        }
        source.outputs()
                .forEach((name, value) -> builder.output(
                        name,
                        copiedOutputs.contains(name)
                                ? builder.add(name, new Copy(), List.of(map(value)))
                                        .getFirst()
                                : map(value)));
        return builder.build();
    }

    private Set<Node> countUses() {
        Set<Node> live = new HashSet<>();
        Set<Value> needed = new HashSet<>(outputs);
        for (Node node : source.nodes().reversed()) {
            if (node.outputs().stream().anyMatch(needed::contains)) {
                live.add(node);
                needed.addAll(node.inputs());
                node.inputs().forEach(value -> uses.merge(value, 1, Integer::sum));
            }
        }
        return live;
    }

    /** Copies a node as it is, onto the new values of its inputs. */
    public List<Value> copy(Node node) {
        copied = builder.add(
                node.name(),
                node.op(),
                map(node.inputs()),
                node.outputs().stream().map(Value::name).toList());
        return copied;
    }

    /** The new value that stands for one of the source's. */
    public Value map(Value old) {
        Value known = mapped.get(old);
        if (known != null) {
            return known;
        }
        if (old.origin() instanceof Value.Origin.Constant(ConstantData data)) {
            Value constant = builder.constant(old.name(), data);
            mapped.put(old, constant);
            return constant;
        }
        throw new IllegalStateException(old + " has no counterpart yet");
    }

    public List<Value> map(List<Value> old) {
        return old.stream().map(this::map).toList();
    }

    /**
     * Whether exactly one node uses a value of the source, once, and it is no output of the graph: then a rewrite of
     * that node may absorb it.
     */
    public boolean isPrivate(Value old) {
        return uses.getOrDefault(old, 0) == 1 && !outputs.contains(old);
    }

    public boolean isOutput(Value old) {
        return outputs.contains(old);
    }

    @Override
    public List<Value> addAll(Op op, List<Value> operands) {
        return builder.add(current, op, operands);
    }

    @Override
    public Value constant(ConstantData data) {
        return builder.constant(data);
    }
}
