package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.RnnActivation;
import java.util.List;

/** Adds attention and recurrent layers, of one float type. */
public interface SequenceOps extends OpBuilder {
    /**
     * The results of an LSTM.
     *
     * @param outputs of every step, [T,D,B,H], batch first [B,T,D,H]
     * @param hidden the last state, [D,B,H], batch first [B,D,H]
     * @param cell the last cell state, as hidden
     */
    record LstmResult(Value outputs, Value hidden, Value cell) {
        public LstmResult {
            Require.nonNull(outputs, "outputs");
            Require.nonNull(hidden, "hidden");
            Require.nonNull(cell, "cell");
        }
    }

    /**
     * The results of a GRU.
     *
     * @param outputs of every step, [T,D,B,H], batch first [B,T,D,H]
     * @param hidden the last state, [D,B,H], batch first [B,D,H]
     */
    record GruResult(Value outputs, Value hidden) {
        public GruResult {
            Require.nonNull(outputs, "outputs");
            Require.nonNull(hidden, "hidden");
        }
    }

    /**
     * Adds softmax(scale q k^T) v for each head. [q [B,Hq,Lq,D], k [B,Hkv,Lk,D], v [B,Hkv,Lk,Dv]] → [B,Hq,Lq,Dv]; Hq is
     * a multiple of Hkv, so grouped and multi-query attention need no copies.
     */
    default Value attention(Value q, Value k, Value v, AttentionOptions options) {
        return add(SequenceWords.attention(options, AttentionMask.NONE), Words.operands("attention", "q k v", q, k, v));
    }

    /**
     * Adds an attention with a mask.
     *
     * @param mask broadcast to [B,Hq,Lq,Lk]: booleans (true: the query may look) or numbers that are added to the
     *     scores
     */
    default Value attention(Value q, Value k, Value v, Value mask, AttentionOptions options) {
        Value[] operands = Words.operands("attention", "q k v mask", q, k, v, mask);
        return add(
                SequenceWords.attention(
                        options, mask.dtype() == DType.BOOL ? AttentionMask.BOOLEAN : AttentionMask.ADDITIVE),
                operands);
    }

    /**
     * Adds a rotary position embedding of x's last axis, [..., L, D]: pairs of elements turned by angles.
     *
     * @param cos and {@code sin}: of the angles, broadcast to [..., L, D/2]
     * @param interleaved whether pairs are neighbours (GPT-J) or lie half the axis apart (Llama)
     */
    default Value rope(Value x, Value cos, Value sin, boolean interleaved) {
        return add(new Rope(interleaved, 0), Words.operands("rope", "x cos sin", x, cos, sin));
    }

    /** Adds an LSTM with sigmoid gates and tanh; gates in the order i o f c. */
    default LstmResult lstm(RecurrentInputs inputs, RecurrentOptions options) {
        Words.option("lstm", "inputs", inputs);
        Words.option("lstm", "options", options);
        List<Value> results = addAll(
                Words.named(
                        "lstm",
                        () -> new Lstm(
                                options.direction(),
                                SequenceWords.hidden("lstm", inputs.r()),
                                SequenceWords.activations(
                                        options, RnnActivation.SIGMOID, RnnActivation.TANH, RnnActivation.TANH),
                                options.clip(),
                                false,
                                options.batchFirst(),
                                inputs.bias() != null,
                                inputs.lengths() != null,
                                inputs.initialHidden() != null,
                                inputs.initialCell() != null,
                                false)),
                inputs.values());
        return new LstmResult(results.get(0), results.get(1), results.get(2));
    }

    /** Adds a GRU with sigmoid gates and tanh; gates in the order z r h. */
    default GruResult gru(RecurrentInputs inputs, RecurrentOptions options) {
        Words.option("gru", "inputs", inputs);
        Words.option("gru", "options", options);
        if (inputs.initialCell() != null) {
            throw Words.shape("gru", inputs.x(), "has no cell state; expected no initial one");
        }
        List<Value> results = addAll(
                Words.named(
                        "gru",
                        () -> new Gru(
                                options.direction(),
                                SequenceWords.hidden("gru", inputs.r()),
                                SequenceWords.activations(options, RnnActivation.SIGMOID, RnnActivation.TANH),
                                options.clip(),
                                options.resetAfter(),
                                options.batchFirst(),
                                inputs.bias() != null,
                                inputs.lengths() != null,
                                inputs.initialHidden() != null)),
                inputs.values());
        return new GruResult(results.get(0), results.get(1));
    }
}
