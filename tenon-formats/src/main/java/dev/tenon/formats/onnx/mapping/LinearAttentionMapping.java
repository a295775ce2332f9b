package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Attention with a state instead of keys, opset 27 on. */
final class LinearAttentionMapping {
    private static final int PAST = 3;
    private static final int DECAY = 4;
    private static final int BETA = 5;

    private LinearAttentionMapping() {}

    /** Heads lie side by side in the last axis, as [B,T,heads*size]; past and present state are [B,heads,K,V]. */
    static List<Value> map(NodeContext n) {
        int heads = n.attrCount("kv_num_heads");
        String rule = n.attrString("update_rule", "gated_delta");
        boolean decay = rule.equals("gated") || rule.equals("gated_delta");
        boolean delta = rule.equals("delta") || rule.equals("gated_delta");
        if (!decay && !delta && !rule.equals("linear")) {
            throw n.error("the update_rule \"" + rule + "\" is not known");
        }
        List<Value> operands = new ArrayList<>();
        operands.add(AttentionMapping.heads(n, n.in(0), n.attrInt("q_num_heads")));
        operands.add(AttentionMapping.heads(n, n.in(1), heads));
        operands.add(AttentionMapping.heads(n, n.in(2), heads));
        if (decay) {
            operands.add(AttentionMapping.heads(n, n.in(DECAY), heads));
        }
        if (delta) {
            operands.add(beta(n, heads));
        }
        if (n.has(PAST)) {
            operands.add(n.in(PAST));
        }
        double scale = n.attrFloat("scale", 0);
        GatedDeltaNet op = new GatedDeltaNet(decay, delta, n.has(PAST), scale == 0 ? Double.NaN : scale);
        List<Value> results = n.addAll(op, operands);
        return List.of(AttentionMapping.joined(n, results.get(0)), results.get(1));
    }

    /** One number for each head, or one for all, as [B,heads,T]. */
    private static Value beta(NodeContext n, int heads) {
        Value given = n.in(BETA);
        Value first = ShapeChanges.swap(n, given, 1, 2);
        return n.rank(given) == 3 && given.shape().dim(2).is(1) && heads > 1
                ? n.concat(Collections.nCopies(heads, first), 1)
                : first;
    }
}
