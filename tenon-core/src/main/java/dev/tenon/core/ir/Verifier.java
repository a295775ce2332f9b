package dev.tenon.core.ir;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.VerificationException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks that a graph keeps the rules of the IR; reports all that it finds, not just the first. */
public final class Verifier {
    private final Graph graph;
    private final List<String> findings = new ArrayList<>();
    private final Set<Value> defined = new HashSet<>();
    private final Set<String> names = new HashSet<>();

    private Verifier(Graph graph) {
        this.graph = graph;
    }

    /** Returns when the graph is sound. @throws VerificationException with every finding */
    public static void verify(Graph graph) {
        List<String> findings = new Verifier(graph).findings();
        if (!findings.isEmpty()) {
            throw new VerificationException(graph.name(), findings);
        }
    }

    /** For assertions: returns true when the graph is sound. @throws VerificationException with every finding */
    static boolean holds(Graph graph) {
        verify(graph);
        return true;
    }

    private List<String> findings() {
        graph.inputs().forEach(value -> define(value, value.origin() instanceof Value.Origin.Input, "input"));
        graph.parameters()
                .forEach(value -> define(value, value.origin() instanceof Value.Origin.Parameter, "parameter"));
        graph.constants().forEach(value -> define(value, true, "constant"));
        for (Node node : graph.nodes()) {
            node.inputs().forEach(value -> use(value, node));
            checkTypes(node);
            node.outputs()
                    .forEach(value -> define(
                            value,
                            value.origin() instanceof Value.Origin.Result(Node from, int _) && from == node,
                            "result"));
        }
        graph.outputs().forEach((name, value) -> use(value, "output \"" + name + "\""));
        return findings;
    }

    private void define(Value value, boolean rightOrigin, String role) {
        if (!defined.add(value)) {
            findings.add(role + " " + value + " is defined twice");
        } else if (!names.add(value.name())) {
            findings.add("two values are named %" + value.name());
        }
        if (!rightOrigin) {
            findings.add(value + " stands as " + role + " but comes from "
                    + value.origin().getClass().getSimpleName());
        }
    }

    private void use(Value value, Object user) {
        if (!defined.contains(value)) {
            findings.add(value + " is used before it is defined, by " + user);
        }
    }

    private void checkTypes(Node node) {
        List<TensorType> inferred;
        try {
            inferred = node.op().infer(PlainGraphBuilder.types(node.inputs()));
        } catch (TenonException e) {
            findings.add(String.valueOf(e.at(node.name()).getMessage()));
            return;
        }
        if (inferred.size() != node.outputs().size()) {
            findings.add(node + " has " + node.outputs().size() + " results, its operation gives " + inferred.size());
            return;
        }
        for (int i = 0; i < inferred.size(); i++) {
            TensorType wanted = inferred.get(i);
            TensorType has = node.outputs().get(i).type();
            if (wanted.dtype() != has.dtype() || !wanted.shape().mayEqual(has.shape())) {
                findings.add("result " + node.outputs().get(i) + " of "
                        + node.op().mnemonic() + " should be " + wanted + " (node \"" + node.name() + "\")");
            }
        }
    }
}
