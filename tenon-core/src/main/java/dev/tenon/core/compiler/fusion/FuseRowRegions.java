package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * {@code after(row(before(x...)), y...) → row_region(x..., y...)} for softmaxes, norms and reductions, where the
 * backend runs that whole: {@code before} has one reader, the row operation, and {@code after} is the one reader of
 * that.
 *
 * <p>Runs after all other fusions, so that it takes what products, embeddings and residual norms leave: those have
 * kernels that are there already, and this is one to be compiled.
 */
public final class FuseRowRegions implements Pass {
    @Override
    public String name() {
        return "fuse-row-regions";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (!context.mayClaim(RowRegion.class) || !hasRow(graph)) {
            return graph;
        }
        return Rewriter.rewrite(graph, (node, into) -> {
            if (isRow(node)) {
                return fused(node, before(node, into), null, context, into);
            }
            return isElementwise(node) ? withAfter(node, context, into) : null;
        });
    }

    private static boolean hasRow(Graph graph) {
        for (Node node : graph.nodes()) {
            if (isRow(node)) {
                return true;
            }
        }
        return false;
    }

    /** An elementwise node, as what comes after one of the row operations that it reads. */
    private static @Nullable List<Value> withAfter(Node node, PassContext context, Rewriter into) {
        for (Value input : node.inputs()) {
            Node row = Match.producer(input);
            if (row == null
                    || !isRow(row)
                    || !into.isPrivate(input)
                    || !input.shape().equals(node.output().shape())) {
                continue;
            }
            Node before = before(row, into);
            List<Value> whole = fused(row, before, node, context, into);
            if (whole == null && before != null) {
                whole = fused(row, null, node, context, into);
            }
            if (whole != null) {
                return whole;
            }
        }
        return null;
    }

    /** The elementwise node that makes the rows and nothing else; null for none. */
    private static @Nullable Node before(Node row, Rewriter into) {
        Node before = Match.producer(row.input(0));
        return before != null && isElementwise(before) && into.isPrivate(row.input(0)) ? before : null;
    }

    private static @Nullable List<Value> fused(
            Node row, @Nullable Node before, @Nullable Node after, PassContext context, Rewriter into) {
        if (before == null && after == null) {
            return null;
        }
        List<Value> operands = new ArrayList<>(before == null ? List.of(row.input(0)) : before.inputs());
        int count = operands.size();
        operands.addAll(row.inputs().subList(1, row.inputs().size()));
        Region later = null;
        if (after != null) {
            int at = after.inputs().indexOf(row.output());
            later = readingFirst(region(after), at);
            List<Value> others = new ArrayList<>(after.inputs());
            others.remove(at);
            operands.addAll(others);
        }
        RowRegion op = new RowRegion(count, before == null ? null : region(before), (Primitive) row.op(), later);
        if (op.arity().max() < operands.size()) {
            return null;
        }
        List<Value> mapped = into.map(operands);
        return context.claims(op, mapped) ? into.addAll(op, mapped) : null;
    }

    private static Region region(Node node) {
        if (node.op() instanceof Region region) {
            return region;
        }
        List<Integer> all = IntStream.range(0, node.inputs().size()).boxed().toList();
        return new Region(List.of(new Region.Step((Elementwise) node.op(), all)), List.of(0));
    }

    /** The same region where the input of that number comes first. */
    private static Region readingFirst(Region region, int input) {
        List<Region.Step> steps = region.steps().stream()
                .map(step -> new Region.Step(
                        step.op(),
                        step.arguments().stream()
                                .map(argument -> Objects.equals(argument, input)
                                        ? 0
                                        : argument < input ? argument + 1 : argument)
                                .toList()))
                .toList();
        return new Region(steps, region.results());
    }

    private static boolean isRow(Node node) {
        return node.op() instanceof Primitive op
                && RowRegion.isRow(op)
                && node.input(0).dtype().isFloat();
    }

    private static boolean isElementwise(Node node) {
        return (node.op() instanceof Elementwise || node.op() instanceof Region)
                && node.outputs().size() == 1;
    }
}
