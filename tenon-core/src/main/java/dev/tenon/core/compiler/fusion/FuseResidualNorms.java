package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code norm(x + residual) → residual_norm(x, residual)} for LayerNorm and RmsNorm, where the backend runs that whole;
 * a sum that others read too becomes its second result.
 *
 * <p>Runs after the fusion of epilogues and of elementwise chains, and takes the additions that are left: one within a
 * product's epilogue or a region costs no launch of its own, so that taking it from there would save none.
 */
public final class FuseResidualNorms implements Pass {
    @Override
    public String name() {
        return "fuse-residual-norms";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (!context.mayClaim(ResidualNorm.class) || !hasCandidate(graph)) {
            return graph;
        }
        Walk walk = new Walk(graph, context);
        return Rewriter.rewrite(graph, walk::rewrite);
    }

    private static boolean hasCandidate(Graph graph) {
        for (Node node : graph.nodes()) {
            if (isCandidate(node)) {
                return true;
            }
        }
        return false;
    }

    private static final class Walk {
        private final PassContext context;
        /** The first norm of each sum. */
        private final Map<Value, Node> norms = new HashMap<>();
        /** Results of nodes that the walk has not passed. */
        private final Set<Value> pending = new HashSet<>();
        /** Results of norms that stand where their sum did. */
        private final Map<Node, Value> done = new HashMap<>();

        Walk(Graph graph, PassContext context) {
            this.context = context;
            for (Node node : graph.nodes()) {
                pending.addAll(node.outputs());
                if (isCandidate(node)) {
                    norms.putIfAbsent(node.input(0), node);
                }
            }
        }

        @Nullable
        List<Value> rewrite(Node node, Rewriter into) {
            List<Value> replaced = replace(node, into);
            node.outputs().forEach(pending::remove);
            return replaced;
        }

        private @Nullable List<Value> replace(Node node, Rewriter into) {
            Value before = done.get(node);
            if (before != null) {
                return List.of(before);
            }
            Node norm = norms.get(node.outputs().getFirst());
            if (norm != null) {
                return shared(node, norm, into);
            }
            boolean first = fused(node.op(), false) != null && norms.get(node.input(0)) == node;
            Node sum = first ? Match.producer(node.input(0)) : null;
            return sum != null && into.isPrivate(node.input(0)) ? whole(sum, node, false, into) : null;
        }

        /** The sum, made together with its norm, for those who read it beside the norm. */
        private @Nullable List<Value> shared(Node sum, Node norm, Rewriter into) {
            boolean ready = norm.inputs().stream().skip(1).noneMatch(pending::contains);
            List<Value> results = ready && !into.isPrivate(sum.output()) ? whole(sum, norm, true, into) : null;
            if (results == null) {
                return null;
            }
            done.put(norm, results.getFirst());
            return List.of(results.getLast());
        }

        private @Nullable List<Value> whole(Node sum, Node norm, boolean keepsSum, Rewriter into) {
            Op op = fused(norm.op(), keepsSum);
            if (op == null) {
                return null;
            }
            List<Value> operands = new ArrayList<>(into.map(sum.inputs()));
            operands.addAll(into.map(norm.inputs().subList(1, norm.inputs().size())));
            List<Value> results = into.addAll(op, operands);
            return context.claimed(results.getFirst()) ? results : null;
        }
    }

    /** Whether a node is the norm of a sum. */
    private static boolean isCandidate(Node node) {
        return fused(node.op(), false) != null && isSum(Match.producer(node.input(0)));
    }

    /**
     * The norm as one of a sum; null for anything else, and for one without scale or bias, which residual norms have.
     */
    private static @Nullable Op fused(Op norm, boolean keepsSum) {
        return switch (norm) {
            case LayerNorm(int axis, double epsilon, boolean scale, boolean bias)
            when scale && bias -> new ResidualNorm(true, keepsSum, axis, epsilon);
            case RmsNorm(int axis, double epsilon, boolean scale)
            when scale -> new ResidualNorm(false, keepsSum, axis, epsilon);
            default -> null;
        };
    }

    private static boolean isSum(@Nullable Node node) {
        return node != null
                && node.op() instanceof Binary(BinaryFn fn)
                && fn == BinaryFn.ADD
                && node.output().shape().isConcrete()
                && node.inputs().stream()
                        .allMatch(input -> input.type().equals(node.output().type()));
    }
}
