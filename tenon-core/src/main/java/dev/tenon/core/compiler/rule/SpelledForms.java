package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.Graph;

/** Recognises operations that exporters spell out in small steps. */
public final class SpelledForms implements Pass {
    private final RuleTable rules =
            new RuleTable(new SpelledGelu(), new SpelledHardSwish(), new SpelledLayerNorm(), new SpelledRmsNorm());

    @Override
    public String name() {
        return "spelled-forms";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return rules.applied(graph);
    }
}
