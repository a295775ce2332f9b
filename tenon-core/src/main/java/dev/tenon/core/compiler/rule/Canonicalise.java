package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.Graph;

/** Applies the small rules until none applies any more. */
public final class Canonicalise implements Pass {
    private final RuleTable rules = new RuleTable(
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
            Graph after = rules.applied(before);
            if (after == before) {
                break;
            }
            before = after;
        }
        return before;
    }
}
