package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;

/**
 * ONNX RNN-22. [x, w [D,H,I], r [D,H,H], bias? [D,2H], lengths?, h0?] -> [y, h].
 *
 * <p>{@code h = f(W x + R h' + bW + bR)}, f being each direction's activation. Layouts, lengths, bias and clip as
 * {@link Lstm}'s. One float type throughout.
 */
public record Rnn(
        RnnDirection direction,
        long hidden,
        List<RnnActivation> activations,
        double clip,
        boolean batchFirst,
        boolean bias,
        boolean lengths,
        boolean initialHidden)
        implements Primitive {
    public Rnn {
        activations = List.copyOf(activations);
        recurrence(direction, hidden, clip, batchFirst, List.of()).check(activations, 1);
    }

    private static Recurrence recurrence(
            RnnDirection direction, long hidden, double clip, boolean batchFirst, List<String> inputs) {
        return new Recurrence("rnn", direction, hidden, 1, 1, clip, batchFirst, inputs);
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
        return (x, state) -> {
            double[] last = state[0].clone();
            for (int n = 0; n < last.length; n++) {
                state[0][n] = recurrence.activate(activations.get(d), weights.both(n, x, last));
            }
        };
    }
}
