package dev.tenon.core.build;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import java.util.Collections;
import java.util.List;

/** What the words for attention and recurrent layers share. */
final class SequenceWords {
    private SequenceWords() {}

    static Attention attention(AttentionOptions options, AttentionMask mask) {
        Words.option("attention", "options", options);
        return Words.named(
                "attention",
                () -> new Attention(options.causal(), options.window(), mask, options.scale(), options.softCap()));
    }

    /** Returns the size of the state: the last dim of the recurrent weights. */
    static long hidden(String op, Value r) {
        if (Words.rank(op, r) != 3 || !r.shape().dim(2).isFixed()) {
            throw Words.shape(
                    op, r, "r " + r.shape() + "; expected [directions, gates * hidden, hidden] with a known last dim");
        }
        return r.shape().size(2);
    }

    static List<RnnActivation> activations(RecurrentOptions options, RnnActivation... each) {
        int directions = options.direction() == RnnDirection.BIDIRECTIONAL ? 2 : 1;
        return Collections.nCopies(directions, List.of(each)).stream()
                .flatMap(List::stream)
                .toList();
    }
}
