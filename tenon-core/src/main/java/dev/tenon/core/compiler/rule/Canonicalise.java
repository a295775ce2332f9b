package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Applies the small rules until none applies any more. */
public final class Canonicalise implements Pass {
    private final List<Rule> rules = List.of(
            new DropIdentities(),
            new CastsThereAndBack(),
            new ArithmeticIdentities(),
            new PowerToProduct(),
            new MergeReshapes(),
            new TransposeOfMergedAxes(),
            new MergeUnsqueezes(),
            new MergeTransposes(),
            new TransposeIntoMatMul(),
            new GatherBeforeDequantize(),
            new CastBehindReshape());

    /** Far more than any chain of rules needs; a graph that still changes then is just left as it is. */
    private static final int ROUNDS = 10;

    @Override
    public String name() {
        return "canonicalise";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        Graph before = graph;
        for (int round = 0; round < ROUNDS; round++) {
            Graph after = Rewriter.rewrite(before, this::first);
            if (after == before) {
                break;
            }
            before = after;
        }
        return before;
    }

    private @Nullable List<Value> first(Node node, Rewriter into) {
        for (Rule rule : rules) {
            List<Value> replaced = rule.apply(node, into);
            if (replaced != null) {
                return replaced;
            }
        }
        return null;
    }
}
