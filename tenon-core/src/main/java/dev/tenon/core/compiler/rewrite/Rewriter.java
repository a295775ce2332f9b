package dev.tenon.core.compiler.rewrite;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.Ops;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
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
    /** Operations of the nodes that the rewrite looks at; empty for all. */
    private final Set<Class<? extends Op>> starts;

    /** Null while all nodes that were walked are kept. */
    private @Nullable GraphBuilder builder;
    /** How many nodes of the source are kept while there is no builder. */
    private int kept;

    /** Values of the source that are not kept, and what stands for them. */
    private final Map<Value, Value> mapped = new HashMap<>();

    private final Graph.Uses uses;
    private String current = "";
    private boolean changed;
    private @Nullable List<Value> copied;

    private Rewriter(Graph source, Set<Class<? extends Op>> starts) {
        this.source = source;
        this.starts = starts;
        this.uses = source.uses();
    }

    /** The graph after one walk; the very same object when nothing changed. Nodes that nothing changed are shared. */
    public static Graph rewrite(Graph source, Rewrite rewrite) {
        return new Rewriter(source, Set.of()).run(rewrite, Set.of());
    }

    /**
     * The same with a rewrite that keeps all nodes but those of some operations: a graph without one is not walked.
     *
     * @param starts those operations; not empty
     */
    public static Graph rewrite(Graph source, Set<Class<? extends Op>> starts, Rewrite rewrite) {
        return source.uses().allLive() && !source.hasAny(starts)
                ? source
                : new Rewriter(source, starts).run(rewrite, Set.of());
    }

    /** The graph with a copy of its own for each of the named outputs. */
    public static Graph copyOutputs(Graph source, Set<String> names) {
        return new Rewriter(source, Set.of()).run((node, into) -> null, names);
    }

    private Graph run(Rewrite rewrite, Set<String> copiedOutputs) {
        for (Node node : source.nodes()) {
            pass(node, rewrite);
        }
        if (!changed && copiedOutputs.isEmpty()) {
            return source;
        }
        source.outputs()
                .forEach((name, value) -> builder()
                        .output(
                                name,
                                copiedOutputs.contains(name)
                                        ? builder()
                                                .add(name, new Copy(), List.of(map(value)))
                                                .getFirst()
                                        : map(value)));
        return builder().buildUnverified();
    }

    @SuppressWarnings("ReferenceEquality") // a node was kept when its results are the very list that copy() gave
    private void pass(Node node, Rewrite rewrite) {
        if (!uses.isLive(node)) {
            builder();
            changed = true;
            return;
        }
        boolean looks = starts.isEmpty() || starts.contains(node.op().getClass());
        if (!looks && builder == null) { // so far all were kept
            kept++;
            return;
        }
        current = node.name();
        copied = null;
        List<Value> replaced = looks ? rewrite.apply(node, this) : null;
        List<Value> results = replaced != null ? replaced : copy(node);
        if (results != copied) {
            builder(); // begins with the nodes before this one
            changed = true;
        }
        stand(results, node.outputs());
    }

    /** The new graph, begun with the nodes that were kept up to here. */
    private GraphBuilder builder() {
        GraphBuilder known = builder;
        if (known == null) {
            known = new GraphBuilder(source);
            for (int i = 0; i < kept; i++) {
                known.keep(source.nodes().get(i));
            }
            builder = known;
        }
        return known;
    }

    @SuppressWarnings("ReferenceEquality") // a value that is kept stands for itself
    private void stand(List<Value> results, List<Value> old) {
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) != old.get(i)) {
                mapped.put(old.get(i), results.get(i));
            }
        }
    }

    /** Takes a node over as it is, onto the new values of its inputs. */
    @SuppressWarnings("ReferenceEquality") // the same values, not equal ones
    public List<Value> copy(Node node) {
        List<Value> operands = map(node.inputs());
        List<Value> results;
        if (operands != node.inputs()) {
            results = builder().addAgain(node, operands);
        } else if (builder != null) {
            results = builder.keep(node);
        } else {
            results = node.outputs();
            kept++;
        }
        copied = results;
        return results;
    }

    /** Puts an operation in the place of a node: its results have the types of the node's. */
    public List<Value> replace(Node node, Op op, List<Value> operands) {
        return builder()
                .addTyped(
                        node.name(),
                        op,
                        operands,
                        Collections.nCopies(node.outputs().size(), op.mnemonic()),
                        GraphBuilder.types(node.outputs()));
    }

    /** Adds an operation whose result has a type that says more than its rule does. */
    public Value addTyped(Op op, List<Value> operands, TensorType type) {
        return builder()
                .addTyped(current, op, operands, List.of(op.mnemonic()), List.of(type))
                .getFirst();
    }

    /** The new value that stands for one of the source's. */
    public Value map(Value old) {
        return mapped.getOrDefault(old, old);
    }

    /** The new values that stand for those of the source; the very same list where all are kept. */
    @SuppressWarnings("ReferenceEquality") // the same values, not equal ones
    public List<Value> map(List<Value> old) {
        if (mapped.isEmpty()) {
            return old;
        }
        for (int i = 0; i < old.size(); i++) {
            if (map(old.get(i)) != old.get(i)) {
                Value[] all = new Value[old.size()];
                Arrays.setAll(all, at -> map(old.get(at)));
                return List.of(all);
            }
        }
        return old;
    }

    /**
     * Whether exactly one node uses a value of the source, once, and it is no output of the graph: then a rewrite of
     * that node may absorb it.
     */
    public boolean isPrivate(Value old) {
        return uses.isPrivate(old);
    }

    /** How many times needed nodes of the source use a value. */
    public int reads(Value old) {
        return uses.reads(old);
    }

    public boolean isOutput(Value old) {
        return uses.isOutput(old);
    }

    @Override
    public List<Value> addAll(Op op, List<Value> operands) {
        return builder().add(current, op, operands);
    }

    @Override
    public Value constant(ConstantData data) {
        return builder().constant(data);
    }
}
