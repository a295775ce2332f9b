package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operands of a recurrent layer: T steps, a batch of B, I inputs, H hidden elements, D directions (1 or 2), G gates
 * (LSTM 4, GRU 3). Immutable.
 *
 * @param x [T,B,I], batch first [B,T,I]
 * @param w the inputs' weights, [D,G H,I]
 * @param r the state's weights, [D,G H,H]
 * @param bias that of w, then that of r, [D,2 G H]; null for 0
 * @param lengths of each sequence, i32 [B]: past it outputs are 0 and the state stays; null for T
 * @param initialHidden [D,B,H], batch first [B,D,H]; null for 0
 * @param initialCell as initialHidden, of an LSTM; null for 0
 */
public record RecurrentInputs(
        Value x,
        Value w,
        Value r,
        @Nullable Value bias,
        @Nullable Value lengths,
        @Nullable Value initialHidden,
        @Nullable Value initialCell) {
    public RecurrentInputs {
        Require.nonNull(x, "x");
        Require.nonNull(w, "w");
        Require.nonNull(r, "r");
    }

    /** Returns operands without bias, lengths and initial state. */
    public static RecurrentInputs of(Value x, Value w, Value r) {
        return new RecurrentInputs(x, w, r, null, null, null, null);
    }

    public RecurrentInputs withBias(Value value) {
        return new RecurrentInputs(x, w, r, Require.nonNull(value, "value"), lengths, initialHidden, initialCell);
    }

    public RecurrentInputs withLengths(Value value) {
        return new RecurrentInputs(x, w, r, bias, Require.nonNull(value, "value"), initialHidden, initialCell);
    }

    public RecurrentInputs withInitialHidden(Value value) {
        return new RecurrentInputs(x, w, r, bias, lengths, Require.nonNull(value, "value"), initialCell);
    }

    public RecurrentInputs withInitialCell(Value value) {
        return new RecurrentInputs(x, w, r, bias, lengths, initialHidden, Require.nonNull(value, "value"));
    }

    /** Returns those that are there, in the operations' order. */
    List<Value> values() {
        List<Value> values = new ArrayList<>(List.of(x, w, r));
        addIfThere(bias, values);
        addIfThere(lengths, values);
        addIfThere(initialHidden, values);
        addIfThere(initialCell, values);
        return values;
    }

    private static void addIfThere(@Nullable Value value, List<Value> values) {
        if (value != null) {
            values.add(value);
        }
    }
}
