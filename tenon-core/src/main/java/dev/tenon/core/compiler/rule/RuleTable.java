package dev.tenon.core.compiler.rule;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rules by the operations at which they apply: of one that applies, no later one is asked. */
final class RuleTable {
    private final Map<Class<? extends Op>, List<Rule>> byOperation = new HashMap<>();
    private final Set<Class<? extends Op>> starts;

    RuleTable(Rule... inOrder) {
        for (Rule rule : inOrder) {
            for (Class<? extends Op> operation : rule.startsAt()) {
                byOperation.computeIfAbsent(operation, _ -> new ArrayList<>()).add(rule);
            }
        }
        this.starts = Set.copyOf(byOperation.keySet());
    }

    /** The graph after one walk; the very same object where no rule applied. */
    Graph applied(Graph graph) {
        return Rewriter.rewrite(graph, starts, this::first);
    }

    private @Nullable List<Value> first(Node node, Rewriter into) {
        List<Rule> rules = byOperation.get(node.op().getClass());
        for (int i = 0; rules != null && i < rules.size(); i++) {
            List<Value> replaced = rules.get(i).apply(node, into);
            if (replaced != null) {
                return replaced;
            }
        }
        return null;
    }
}
