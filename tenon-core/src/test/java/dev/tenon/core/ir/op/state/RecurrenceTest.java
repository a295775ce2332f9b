package dev.tenon.core.ir.op.state;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.counting;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.full;
import static dev.tenon.core.ir.op.Nd.ints;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.UnaryFn;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Recurrent layers against the numbers of ONNX's own tests, and sums worked out by hand. */
class RecurrenceTest {
    private static final List<RnnActivation> LSTM =
            List.of(RnnActivation.SIGMOID, RnnActivation.TANH, RnnActivation.TANH);
    private static final RnnActivation SUM = new RnnActivation(UnaryFn.AFFINE, 1, 0);

    private static Lstm lstm(long hidden, boolean bias, boolean rest, boolean batchFirst) {
        return new Lstm(RnnDirection.FORWARD, hidden, LSTM, 0, false, batchFirst, bias, rest, rest, rest, rest);
    }

    @Test
    void lstmBatchFirst() {
        List<NdArray> results = lstm(7, false, false, true)
                .evaluate(List.of(counting(shape(3, 1, 2)), full(shape(1, 28, 2), 0.3), full(shape(1, 28, 7), 0.3)));
        assertThat(results).hasSize(3);
        assertThat(results.getFirst().shape()).isEqualTo(shape(3, 1, 1, 7));
        assertThat(results.get(1).shape()).isEqualTo(shape(3, 1, 7));
        assertThat(results.get(1).get(0)).isCloseTo(0.33369261, Offset.offset(1e-6));
        assertThat(results.getFirst().get(7)).isCloseTo(0.62239319, Offset.offset(1e-6));
    }

    @Test
    void lstmWithBiasAndWithPeepholes() {
        NdArray h = lstm(4, true, false, false)
                .evaluate(List.of(
                        counting(shape(1, 3, 3)),
                        full(shape(1, 16, 3), 0.1),
                        full(shape(1, 16, 4), 0.1),
                        // ONNX's test gives the weights' half alone
                        f32(shape(1, 32), halves(16, 0.1))))
                .get(1);
        double a = 0.25606447;
        double b = 0.53672779;
        double c = 0.66721320;
        check(h, shape(1, 3, 4), a, a, a, a, b, b, b, b, c, c, c, c);
        NdArray peep = lstm(3, true, true, false)
                .evaluate(List.of(
                        counting(shape(1, 2, 4)),
                        full(shape(1, 12, 4), 0.1),
                        full(shape(1, 12, 3), 0.1),
                        full(shape(1, 24), 0),
                        ints(DType.I32, shape(2), 1, 1),
                        full(shape(1, 2, 3), 0),
                        full(shape(1, 2, 3), 0),
                        full(shape(1, 9), 0.1)))
                .get(1);
        check(peep, shape(1, 2, 3), 0.37506911, 0.37506911, 0.37506911, 0.68013090, 0.68013090, 0.68013090);
    }

    private static double[] halves(int count, double first) {
        double[] values = new double[2 * count];
        Arrays.fill(values, 0, count, first);
        return values;
    }

    @Test
    void gruBothForms() {
        List<RnnActivation> activations = List.of(RnnActivation.SIGMOID, RnnActivation.TANH);
        Gru plain = new Gru(RnnDirection.FORWARD, 5, activations, 0, false, false, false, false, false);
        NdArray h = plain.evaluate(
                        List.of(counting(shape(1, 3, 2)), full(shape(1, 15, 2), 0.1), full(shape(1, 15, 5), 0.1)))
                .get(1);
        assertThat(h.get(0)).isCloseTo(0.12397026, Offset.offset(1e-6));
        assertThat(h.get(5)).isCloseTo(0.20053662, Offset.offset(1e-6));
        // gates that pass their sums: z = 0, r = 2, candidate W x + bW + r (R h' + bR) or W x + bW + R (r h') + bR
        for (boolean linear : new boolean[] {false, true}) {
            Gru op = new Gru(RnnDirection.FORWARD, 1, List.of(SUM, SUM), 0, linear, false, true, false, true);
            NdArray y = op.evaluate(List.of(
                            f32(shape(1, 1, 1), 1),
                            f32(shape(1, 3, 1), 0, 0, 1),
                            f32(shape(1, 3, 1), 0, 0, 10),
                            f32(shape(1, 6), 0, 2, 100, 0, 0, 1000),
                            f32(shape(1, 1, 1), 3)))
                    .getFirst();
            check(y, shape(1, 1, 1, 1), linear ? 1 + 100 + 2 * (30 + 1000) : 1 + 100 + 60 + 1000);
        }
    }

    @Test
    void rnnOnnx() {
        Rnn op = new Rnn(RnnDirection.FORWARD, 4, List.of(RnnActivation.TANH), 0, false, false, false, false);
        NdArray h = op.evaluate(List.of(counting(shape(1, 3, 2)), full(shape(1, 4, 2), 0.1), full(shape(1, 4, 4), 0.1)))
                .get(1);
        double a = 0.29131263;
        double b = 0.60436779;
        double c = 0.80049902;
        check(h, shape(1, 3, 4), a, a, a, a, b, b, b, b, c, c, c, c);
    }

    @Test
    void directionsAndLengths() {
        Rnn op = new Rnn(RnnDirection.BIDIRECTIONAL, 1, List.of(SUM, SUM), 0, false, false, true, true);
        List<NdArray> results = op.evaluate(List.of(
                f32(shape(3, 2, 1), 1, 10, 2, 20, 3, 30),
                f32(shape(2, 1, 1), 1, 1),
                f32(shape(2, 1, 1), 1, 1),
                ints(DType.I32, shape(2), 2, 3),
                f32(shape(2, 2, 1), 100, 0, 200, 0)));
        // each step adds its element: sequence 0 has two, the backward walk starts at its own end
        check(results.get(0), shape(3, 2, 2, 1), 101, 10, 203, 60, 103, 30, 202, 50, 0, 60, 0, 30);
        check(results.get(1), shape(2, 2, 1), 103, 60, 203, 60);
    }

    @Test
    void clipBoundsArgumentsAndForgettingMayBeCoupled() {
        Rnn clipped = new Rnn(RnnDirection.REVERSE, 1, List.of(SUM), 5, false, false, false, false);
        check(
                clipped.evaluate(List.of(f32(shape(2, 1, 1), 1, 9), full(shape(1, 1, 1), 1), full(shape(1, 1, 1), 1)))
                        .getFirst(),
                shape(2, 1, 1, 1),
                5,
                5);
        Lstm coupled = new Lstm(
                RnnDirection.FORWARD, 1, List.of(SUM, SUM, SUM), 0, true, false, true, false, false, true, false);
        // i = 0.25, so f = 0.75; c = 0.75 * 8 + 0.25 * 4 = 7; o = 2
        check(
                coupled.evaluate(List.of(
                                f32(shape(1, 1, 1), 0),
                                full(shape(1, 4, 1), 0),
                                full(shape(1, 4, 1), 0),
                                f32(shape(1, 8), 0.25, 2, 99, 4, 0, 0, 0, 0),
                                f32(shape(1, 1, 1), 8)))
                        .getFirst(),
                shape(1, 1, 1, 1),
                14);
    }

    @Test
    void faults() {
        assertThatThrownBy(() -> new Rnn(RnnDirection.FORWARD, 4, List.of(), 0, false, false, false, false))
                .hasMessageContaining("expected 1");
        assertThatThrownBy(() ->
                        lstm(7, false, false, false).shapes(List.of(shape(3, 1, 2), shape(1, 28, 2), shape(1, 28, 6))))
                .hasMessage("lstm: r has shape [1,28,6]; expected [1,28,7]");
    }
}
