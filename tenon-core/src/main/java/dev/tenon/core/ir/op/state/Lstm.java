package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * ONNX LSTM-22, gates in the order i o f c. [x [T,B,I], w [D,4H,I], r [D,4H,H], bias? [D,8H], lengths? [B] i32, h0?
 * [D,B,H], c0? [D,B,H], peepholes? [D,3H]] -> [y [T,D,B,H], h [D,B,H], c [D,B,H]]; batchFirst is layout 1: x [B,T,I],
 * states [B,D,H], y [B,T,D,H].
 *
 * <p>With activations f, g, h (of each direction, in that order), peepholes P in the order i o f:
 *
 * <pre>{@code
 * i = f(W_i x + R_i h' + b_i + P_i c')     f = f(W_f x + R_f h' + b_f + P_f c'), or 1 - i with inputForget
 * c = f c' + i g(W_c x + R_c h' + b_c)     o = f(W_o x + R_o h' + b_o + P_o c)     h = o h(c)
 * }</pre>
 *
 * <p>The bias is that of w, then that of r, each in the order of the gates. Activations' arguments are bounded by
 * {@code clip} where it is more than 0. Past a sequence's length y is 0 and the state stays. One float type throughout.
 */
public record Lstm(
        RnnDirection direction,
        long hidden,
        List<RnnActivation> activations,
        double clip,
        boolean inputForget,
        boolean batchFirst,
        boolean bias,
        boolean lengths,
        boolean initialHidden,
        boolean initialCell,
        boolean peephole)
        implements Primitive {
    public Lstm {
        activations = List.copyOf(activations);
        recurrence(direction, hidden, clip, batchFirst, List.of()).check(activations, 3);
    }

    private static Recurrence recurrence(
            RnnDirection direction, long hidden, double clip, boolean batchFirst, List<String> inputs) {
        return new Recurrence("lstm", direction, hidden, 4, 2, clip, batchFirst, inputs);
    }

    private Recurrence recurrence() {
        List<String> inputs = Recurrence.names(bias, lengths, initialHidden, initialCell, peephole);
        return recurrence(direction, hidden, clip, batchFirst, inputs);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(recurrence().inputs().size());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return recurrence().dtypes(inputs);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return recurrence().shapes(inputs);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        List<NdArray> results = Expect.results(this, inputs);
        recurrence().run(inputs, results, d -> cell(inputs, d));
        return results;
    }

    private Recurrence.Cell cell(List<NdArray> inputs, int d) {
        Recurrence recurrence = recurrence();
        Recurrence.Weights weights = recurrence.weights(inputs, d);
        int size = (int) hidden;
        double[] peepholes = recurrence.part(inputs, Recurrence.PEEPHOLES, d, 3 * size);
        RnnActivation f = activations.get(3 * d);
        RnnActivation g = activations.get(3 * d + 1);
        RnnActivation h = activations.get(3 * d + 2);
        return (x, state) -> {
            double[] last = state[0].clone();
            double[] memory = state[1];
            for (int n = 0; n < size; n++) {
                double in = recurrence.activate(f, weights.both(n, x, last) + peepholes[n] * memory[n]);
                double forget = inputForget
                        ? 1 - in
                        : recurrence.activate(
                                f, weights.both(2 * size + n, x, last) + peepholes[2 * size + n] * memory[n]);
                double candidate = recurrence.activate(g, weights.both(3 * size + n, x, last));
                memory[n] = forget * memory[n] + in * candidate;
                double out = recurrence.activate(f, weights.both(size + n, x, last) + peepholes[size + n] * memory[n]);
                state[0][n] = out * recurrence.activate(h, memory[n]);
            }
        };
    }
}
