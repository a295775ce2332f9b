package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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
        if (context.claimsNothing()) {
            return graph;
        }
        Set<Node> products = products(graph, context);
        return products.isEmpty()
                ? graph
                : Rewriter.rewrite(
                        graph,
                        Set.of(MatMul.class),
                        (node, into) -> products.contains(node) ? into.addAll(whole(node), into.map(operands(node))) : null);
    }

    /** The products that take in what makes their left operand. */
    private static Set<Node> products(Graph graph, PassContext context) {
        Map<Value, List<Node>> readers = new HashMap<>();
        boolean encoder = false;
        for (Node node : graph.nodes()) {
            encoder |= isOfEncoder(node);
            if (node.op() instanceof MatMul && prologue(node) != null) {
                readers.computeIfAbsent(node.input(0), value -> new ArrayList<>()).add(node);
            }
        }
        if (readers.isEmpty()) {
            return Set.of();
        }
        Map<Value, Integer> reads = reads(graph);
        Set<Node> all = new HashSet<>();
        for (Map.Entry<Value, List<Node>> entry : readers.entrySet()) {
            List<Node> products = entry.getValue();
            boolean whole = reads.get(entry.getKey()) == products.size()
                    && !(encoder && prologue(products.getFirst()) instanceof LayerNorm)
                    && products.stream().allMatch(product -> context.claims(whole(product), operands(product)));
            if (whole) {
                all.addAll(products);
            }
        }
        return all;
    }

    /** How often nodes read each value, or the graph gives it. */
    private static Map<Value, Integer> reads(Graph graph) {
        Map<Value, Integer> reads = new HashMap<>();
        for (Node node : graph.nodes()) {
            node.inputs().forEach(input -> reads.merge(input, 1, Integer::sum));
        }
        graph.outputs().values().forEach(output -> reads.merge(output, 1, Integer::sum));
        return reads;
    }

    /** Whether a node attends to the very tokens that ask, all at once. */
    private static boolean isOfEncoder(Node node) {
        return node.op() instanceof PlainAttention op
                && (op.packed()
                        || node.input(0).shape().dim(1).equals(node.input(1).shape().dim(1)));
    }

    /** What makes a product's left operand, if it may be a prologue; else null. */
    private static @Nullable Op prologue(Node product) {
        Node made = Match.producer(product.input(0));
        return made != null
                        && PrologueMatMul.isPrologue(made.op())
                        && product.output().shape().isConcrete()
                        && made.output().dtype() == made.input(0).dtype()
                ? made.op()
                : null;
    }

    private static PrologueMatMul whole(Node product) {
        Node made = Match.producer(product.input(0));
        return new PrologueMatMul(made.op(), (MatMul) product.op());
    }

    private static List<Value> operands(Node product) {
        List<Value> operands = new ArrayList<>(Match.producer(product.input(0)).inputs());
        operands.addAll(product.inputs().subList(1, product.inputs().size()));
        return operands;
    }
}
