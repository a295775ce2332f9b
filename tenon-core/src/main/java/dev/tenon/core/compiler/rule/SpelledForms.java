package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recognises operations that exporters spell out in small steps. */
public final class SpelledForms implements Pass {
    private final List<Rule> rules = List.of(new SpelledGelu(), new SpelledHardSwish(), new SpelledLayerNorm());

    @Override
    public String name() {
        return "spelled-forms";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, this::first);
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
