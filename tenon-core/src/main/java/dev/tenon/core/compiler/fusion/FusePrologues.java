package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code product(norm(x), w) → prologue_mat_mul(x, w)}, and the same of gated units and of functions of each element,
 * where nothing but left operands of products reads what is made and the backend runs all of these products whole: then
 * it need not be made beforehand.
 *
 * <p>Runs last: what another pass has taken in costs no launch of its own. A LayerNorm within an encoder stays a node,
 * for one launch that goes through a small encoder's layers makes it.
 */
public final class FusePrologues implements Pass {
    @Override
    public String name() {
        return "fuse-prologues";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (!context.mayClaim(PrologueMatMul.class)) {
            return graph;
        }
        Map<Node, Node> made = made(graph, context);
        return made.isEmpty()
                ? graph
                : Rewriter.rewrite(graph, Set.of(MatMul.class), (product, into) -> {
                    Node prologue = made.get(product);
                    return prologue == null
                            ? null
                            : into.addAll(whole(prologue, product), into.map(operands(prologue, product)));
                });
    }

    /** What makes the left operand of each product that takes it in. */
    private static Map<Node, Node> made(Graph graph, PassContext context) {
        Map<Node, List<Node>> products = new HashMap<>();
        boolean encoder = false;
        for (Node node : graph.nodes()) {
            encoder |= isOfEncoder(node);
            Node prologue = prologue(node);
            if (prologue != null) {
                products.computeIfAbsent(prologue, made -> new ArrayList<>()).add(node);
            }
        }
        if (products.isEmpty()) {
            return Map.of();
        }
        Graph.Uses uses = graph.uses();
        Map<Node, Node> made = new HashMap<>();
        for (Map.Entry<Node, List<Node>> entry : products.entrySet()) {
            Node prologue = entry.getKey();
            List<Node> readers = entry.getValue();
            boolean whole = uses.reads(prologue.output()) == readers.size()
                    && !uses.isOutput(prologue.output())
                    && !(encoder && prologue.op() instanceof LayerNorm)
                    && readers.stream()
                            .allMatch(product -> context.claims(whole(prologue, product), operands(prologue, product)));
            if (whole) {
                readers.forEach(product -> made.put(product, prologue));
            }
        }
        return made;
    }

    /** Whether a node attends to the very tokens that ask, all at once. */
    private static boolean isOfEncoder(Node node) {
        return node.op() instanceof PlainAttention op
                && (op.packed()
                        || node.input(0)
                                .shape()
                                .dim(1)
                                .equals(node.input(1).shape().dim(1)));
    }

    /** What makes the left operand of a product, if it may be a prologue; null for other nodes. */
    private static @Nullable Node prologue(Node node) {
        Node made = node.op() instanceof MatMul ? Match.producer(node.input(0)) : null;
        return made != null
                        && PrologueMatMul.isPrologue(made.op())
                        && node.output().shape().isConcrete()
                        && made.output().dtype() == made.input(0).dtype()
                ? made
                : null;
    }

    private static PrologueMatMul whole(Node prologue, Node product) {
        return new PrologueMatMul(prologue.op(), (MatMul) product.op());
    }

    private static List<Value> operands(Node prologue, Node product) {
        List<Value> operands = new ArrayList<>(prologue.inputs());
        operands.addAll(product.inputs().subList(1, product.inputs().size()));
        return operands;
    }
}
