package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * ONNX GRU-22, gates in the order z r h. [x, w [D,3H,I], r [D,3H,H], bias? [D,6H], lengths?, h0?] -> [y, h].
 *
 * <p>With activations f, g (of each direction):
 *
 * <pre>{@code
 * z = f(W_z x + R_z h' + b_z)     r = f(W_r x + R_r h' + b_r)     h = (1 - z) g(...) + z h'
 * g's argument: W_h x + bW_h + R_h (r h') + bR_h; with linearBeforeReset: W_h x + bW_h + r (R_h h' + bR_h)
 * }</pre>
 *
 * <p>Layouts, lengths, bias and clip as {@link Lstm}'s. One float type throughout.
 */
public record Gru(
        RnnDirection direction,
        long hidden,
        List<RnnActivation> activations,
        double clip,
        boolean linearBeforeReset,
        boolean batchFirst,
        boolean bias,
        boolean lengths,
        boolean initialHidden)
        implements Primitive {
    public Gru {
        activations = List.copyOf(activations);
        recurrence(direction, hidden, clip, batchFirst, List.of()).check(activations, 2);
    }

    private static Recurrence recurrence(
            RnnDirection direction, long hidden, double clip, boolean batchFirst, List<String> inputs) {
        return new Recurrence("gru", direction, hidden, 3, 1, clip, batchFirst, inputs);
    }

    private Recurrence recurrence() {
        List<String> inputs = Recurrence.names(bias, lengths, initialHidden, false, false);
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
        RnnActivation f = activations.get(2 * d);
        RnnActivation g = activations.get(2 * d + 1);
        return (x, state) -> {
            double[] last = state[0].clone();
            double[] reset = new double[size];
            double[] resetLast = new double[size];
            for (int n = 0; n < size; n++) {
                reset[n] = recurrence.activate(f, weights.both(size + n, x, last));
                resetLast[n] = reset[n] * last[n];
            }
            for (int n = 0; n < size; n++) {
                double update = recurrence.activate(f, weights.both(n, x, last));
                int row = 2 * size + n;
                double recurrent =
                        linearBeforeReset ? reset[n] * weights.recurrent(row, last) : weights.recurrent(row, resetLast);
                double candidate = recurrence.activate(g, weights.input(row, x) + recurrent);
                state[0][n] = (1 - update) * candidate + update * last[n];
            }
        };
    }
}
