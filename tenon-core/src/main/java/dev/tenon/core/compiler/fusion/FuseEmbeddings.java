package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code layer_norm(gather(table, i) + gather(table, j) + x) → embedding_norm}, where the backend runs that whole. Sums
 * are of any order, alone or in a region; roundings between them, and the clips that guard f16, go.
 */
public final class FuseEmbeddings implements Pass {
    private static final int MOST_TABLES = 3;
    private static final double LARGEST_F16 = 65504;

    @Override
    public String name() {
        return "fuse-embeddings";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        boolean any = context.mayClaim(EmbeddingNorm.class) && graph.hasAny(Set.of(Gather.class));
        return any
                ? Rewriter.rewrite(graph, Set.of(LayerNorm.class), (node, into) -> replace(node, into, context))
                : graph;
    }

    private static @Nullable List<Value> replace(Node node, Rewriter into, PassContext context) {
        if (!(node.op() instanceof LayerNorm(int axis, double epsilon, boolean scale, boolean bias))) {
            return null;
        }
        Shape shape = node.output().shape();
        if (!scale || !bias || axis != shape.rank() - 1 || !shape.isKnown() || !into.isPrivate(node.input(0))) {
            return null;
        }
        List<Value> terms = new ArrayList<>();
        collect(node.input(0), into, terms);
        List<Value> operands = new ArrayList<>();
        List<Value> summands = new ArrayList<>();
        for (Value term : terms) {
            Node gather = table(term, shape, into);
            DType dtype = gather == null ? term.dtype() : gather.input(0).dtype();
            if (dtype != node.output().dtype() && dtype != DType.F32) {
                return null;
            }
            if (gather == null) {
                summands.add(term);
            } else {
                operands.addAll(into.map(gather.inputs()));
            }
        }
        int tables = operands.size() / 2;
        if (tables == 0 || tables > MOST_TABLES || summands.size() > 1 || terms.size() < 2) {
            return null;
        }
        operands.addAll(into.map(summands));
        operands.addAll(into.map(node.inputs().subList(1, 3)));
        boolean sameRows = node.inputs().subList(1, 3).stream()
                .allMatch(row -> row.dtype() == node.output().dtype());
        if (!sameRows) {
            return null;
        }
        EmbeddingNorm whole = new EmbeddingNorm(tables, !summands.isEmpty(), epsilon);
        return context.claims(whole, operands) ? into.addAll(whole, operands) : null;
    }

    /** The gather of a table's rows that is a term of that shape, and nothing else's; null for anything else. */
    private static @Nullable Node table(Value term, Shape shape, Rewriter into) {
        Node node = Match.producer(term);
        return node != null
                        && node.op() instanceof Gather(int axis)
                        && axis == 0
                        && node.input(0).shape().rank() == 2
                        && term.shape().equals(shape)
                        && into.isPrivate(term)
                ? node
                : null;
    }

    /** The summands of a value with one reader. */
    private static void collect(Value value, Rewriter into, List<Value> terms) {
        Node node = into.isPrivate(value) ? Match.producer(value) : null;
        List<Value> parts = node == null ? List.of() : parts(node);
        if (parts.isEmpty()) {
            terms.add(value);
        }
        parts.forEach(part -> collect(part, into, terms));
    }

    private static List<Value> parts(Node node) {
        return switch (node.op()) {
            case Elementwise op when isSum(op) -> node.inputs();
            case Region region -> parts(region, node);
            default -> List.of();
        };
    }

    /** The inputs that a region adds up, each as often as it does; none where it is not a sum. */
    private static List<Value> parts(Region region, Node node) {
        List<List<Value>> known = new ArrayList<>();
        node.inputs().forEach(input -> known.add(List.of(input)));
        for (Region.Step step : region.steps()) {
            if (!isSum(step.op())) {
                return List.of();
            }
            List<Value> sum = new ArrayList<>();
            step.arguments().forEach(argument -> sum.addAll(known.get(argument)));
            if (sum.size() > MOST_TABLES + 1) {
                return List.of();
            }
            known.add(sum);
        }
        return region.results().size() == 1
                ? known.get(node.inputs().size() + region.results().getFirst())
                : List.of();
    }

    /** Whether a result is the sum of the operands, but for rounding. */
    private static boolean isSum(Elementwise op) {
        return switch (op) {
            case Binary(BinaryFn fn) -> fn == BinaryFn.ADD;
            case Cast cast -> cast.to().isFloat();
            case Unary(UnaryFn fn, double low, double high) ->
                fn == UnaryFn.CLIP && low <= -LARGEST_F16 && high >= LARGEST_F16;
            default -> false;
        };
    }
}
