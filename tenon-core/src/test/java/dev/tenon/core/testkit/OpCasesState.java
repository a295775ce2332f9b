package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Recurrent layers. */
final class OpCasesState {
    private static final RnnActivation SIGMOID = RnnActivation.SIGMOID;
    private static final RnnActivation TANH = RnnActivation.TANH;

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(12);

    private OpCasesState() {}

    static List<OpCase> all() {
        OpCasesState all = new OpCasesState();
        for (DType type : OpCases.FLOATS) {
            for (RnnDirection direction : RnnDirection.values()) {
                for (boolean batchFirst : new boolean[] {false, true}) {
                    all.every(type, direction, batchFirst, 0, false);
                    all.every(type, direction, batchFirst, 0, true);
                }
            }
        }
        all.every(DType.F32, RnnDirection.BIDIRECTIONAL, false, 0.5, true);
        all.sizes();
        all.activations();
        return List.copyOf(all.cases);
    }

    /** A layer's sizes. */
    private record Sizes(long time, long batch, long features, long hidden) {}

    private void every(DType type, RnnDirection direction, boolean batchFirst, double clip, boolean full) {
        Sizes sizes = new Sizes(4, 3, 5, 6);
        String name = " " + direction + (batchFirst ? " batch first" : "") + (full ? " full" : "")
                + (clip > 0 ? " clipped " : " ") + type;
        for (boolean variant : new boolean[] {false, true}) {
            lstm((variant ? "lstm coupled" : "lstm") + name, type, direction, batchFirst, clip, full, variant, sizes);
            gru((variant ? "gru linear" : "gru") + name, type, direction, batchFirst, clip, full, variant, sizes);
        }
        rnn("rnn" + name, type, direction, batchFirst, clip, full, sizes);
    }

    private static int directions(RnnDirection direction) {
        return direction == RnnDirection.BIDIRECTIONAL ? 2 : 1;
    }

    private static List<RnnActivation> activations(RnnDirection direction, RnnActivation... one) {
        List<RnnActivation> all = new ArrayList<>();
        for (int d = 0; d < directions(direction); d++) {
            all.addAll(List.of(one));
        }
        return all;
    }

    private void lstm(
            String name,
            DType type,
            RnnDirection direction,
            boolean batchFirst,
            double clip,
            boolean full,
            boolean coupled,
            Sizes sizes) {
        Lstm op = new Lstm(
                direction,
                sizes.hidden,
                activations(direction, SIGMOID, TANH, TANH),
                clip,
                coupled,
                batchFirst,
                full,
                full,
                full,
                full,
                full);
        List<NdArray> inputs = inputs(type, directions(direction), batchFirst, full, 4, 2, sizes);
        if (full) {
            inputs.add(random.array(type, directions(direction), 3 * sizes.hidden));
        }
        add(name, op, inputs, sizes);
    }

    private void gru(
            String name,
            DType type,
            RnnDirection direction,
            boolean batchFirst,
            double clip,
            boolean full,
            boolean linear,
            Sizes sizes) {
        Gru op = new Gru(
                direction,
                sizes.hidden,
                activations(direction, SIGMOID, TANH),
                clip,
                linear,
                batchFirst,
                full,
                full,
                full);
        add(name, op, inputs(type, directions(direction), batchFirst, full, 3, 1, sizes), sizes);
    }

    private void rnn(
            String name,
            DType type,
            RnnDirection direction,
            boolean batchFirst,
            double clip,
            boolean full,
            Sizes sizes) {
        Rnn op = new Rnn(direction, sizes.hidden, activations(direction, TANH), clip, batchFirst, full, full, full);
        add(name, op, inputs(type, directions(direction), batchFirst, full, 1, 1, sizes), sizes);
    }

    private void add(String name, Op op, List<NdArray> inputs, Sizes sizes) {
        // rounding errors of every step reach the last one
        cases.add(new OpCase(name, op, inputs, (sizes.features + sizes.hidden) * Math.max(1, sizes.time)));
    }

    /** x, w, r and, in full, the bias, lengths that differ (one of them 0) and the state. */
    private List<NdArray> inputs(
            DType type, int directions, boolean batchFirst, boolean full, int gates, int states, Sizes sizes) {
        long rows = gates * sizes.hidden;
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(
                batchFirst
                        ? random.array(type, sizes.batch, sizes.time, sizes.features)
                        : random.array(type, sizes.time, sizes.batch, sizes.features));
        inputs.add(random.floats(type, -0.5, 0.5, directions, rows, sizes.features));
        inputs.add(random.floats(type, -0.5, 0.5, directions, rows, sizes.hidden));
        if (full) {
            inputs.add(random.floats(type, -0.5, 0.5, directions, 2 * rows));
            long[] lengths = new long[(int) sizes.batch];
            for (int b = 0; b < lengths.length; b++) {
                lengths[b] = b * sizes.time / Math.max(1, lengths.length - 1);
            }
            inputs.add(NdArray.of(TensorType.of(DType.I32, sizes.batch), lengths));
            for (int s = 0; s < states; s++) {
                inputs.add(
                        batchFirst
                                ? random.array(type, sizes.batch, directions, sizes.hidden)
                                : random.array(type, directions, sizes.batch, sizes.hidden));
            }
        }
        return inputs;
    }

    private void sizes() {
        for (Sizes sizes : List.of(
                new Sizes(1, 1, 1, 1),
                new Sizes(2, 33, 17, 40),
                new Sizes(9, 1, 3, 5),
                new Sizes(5, 9, 7, 130),
                new Sizes(2, 1, 3, 130),
                new Sizes(0, 2, 3, 4),
                new Sizes(2, 0, 3, 4))) {
            String name = " of " + sizes.time + " " + sizes.batch + " " + sizes.features + " " + sizes.hidden;
            RnnDirection direction = RnnDirection.FORWARD;
            lstm("lstm" + name, DType.F32, direction, false, 0, true, false, sizes);
            gru("gru" + name, DType.F32, direction, false, 0, true, false, sizes);
            rnn("rnn" + name, DType.F32, direction, false, 0, true, sizes);
        }
    }

    private void activations() {
        Sizes sizes = new Sizes(3, 2, 4, 5);
        for (RnnActivation activation : List.of(
                new RnnActivation(UnaryFn.RELU, 0, 0),
                new RnnActivation(UnaryFn.AFFINE, 0.5, 0.25),
                new RnnActivation(UnaryFn.LEAKY_RELU, 0.125, 0),
                new RnnActivation(UnaryFn.THRESHOLDED_RELU, 0.5, 0),
                new RnnActivation(UnaryFn.SCALED_TANH, 0.75, 0.5),
                new RnnActivation(UnaryFn.HARD_SIGMOID, 0.25, 0.5),
                new RnnActivation(UnaryFn.ELU, 1, 0),
                new RnnActivation(UnaryFn.SOFTSIGN, 0, 0),
                new RnnActivation(UnaryFn.SOFTPLUS, 0, 0))) {
            Rnn op = new Rnn(
                    RnnDirection.FORWARD,
                    sizes.hidden,
                    Collections.nCopies(1, activation),
                    0,
                    false,
                    false,
                    false,
                    false);
            add("rnn " + activation.fn(), op, inputs(DType.F32, 1, false, false, 1, 1, sizes), sizes);
        }
    }
}
