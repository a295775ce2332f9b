package dev.tenon.core.build;

import static dev.tenon.core.build.WordRun.all;
import static dev.tenon.core.build.WordRun.between;
import static dev.tenon.core.build.WordRun.booleans;
import static dev.tenon.core.build.WordRun.check;
import static dev.tenon.core.build.WordRun.random;
import static dev.tenon.core.build.WordRun.run;
import static dev.tenon.core.build.WordRun.sizes;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.state.RnnDirection;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attention and recurrent layers against loops over their formulas. */
class SequenceWordsTest {
    private static final int HEADS = 4;
    private static final int QUERIES = 3;
    private static final int KEYS = 5;
    private static final int SIZE = 2;

    private interface Score {
        /** Negative infinity hides the key. */
        double of(double scaled, int query, int key);
    }

    /** Element i of [1,4,3,2] of an attention with 2 key heads. */
    private static double attention(NdArray q, NdArray k, NdArray v, double scale, Score score, int i) {
        int head = i / (QUERIES * SIZE);
        int query = i / SIZE % QUERIES;
        int keyHead = head / 2;
        double sum = 0;
        double weighted = 0;
        for (int j = 0; j < KEYS; j++) {
            double dot = 0;
            for (int d = 0; d < SIZE; d++) {
                dot += q.get((head * QUERIES + query) * SIZE + d) * k.get((keyHead * KEYS + j) * SIZE + d);
            }
            double weight = Math.exp(score.of(dot * scale, query, j));
            sum += weight;
            weighted += weight * v.get((keyHead * KEYS + j) * SIZE + i % SIZE);
        }
        return weighted / sum;
    }

    private final NdArray q = random(1, HEADS, QUERIES, SIZE);
    private final NdArray k = between(-1, 2, 1, 2, KEYS, SIZE);
    private final NdArray v = between(-2, 1, 1, 2, KEYS, SIZE);

    private void attends(AttentionOptions options, double scale, Score score) {
        check(
                run((g, in) -> g.attention(in.get(0), in.get(1), in.get(2), options), q, k, v),
                sizes(1, HEADS, QUERIES, SIZE),
                i -> attention(q, k, v, scale, score, i));
    }

    @Test
    void attentionWithItsOptions() {
        double scale = 1 / Math.sqrt(SIZE);
        AttentionOptions plain = AttentionOptions.defaults();
        attends(plain, scale, (s, _, _) -> s);
        attends(plain.withScale(0.3), 0.3, (s, _, _) -> s);
        attends(plain.withCausal(true), scale, (s, query, key) -> key <= query + 2 ? s : Double.NEGATIVE_INFINITY);
        attends(
                plain.withCausal(true).withWindow(2),
                scale,
                (s, query, key) -> key <= query + 2 && key > query ? s : Double.NEGATIVE_INFINITY);
        attends(plain.withSoftCap(1.5), scale, (s, _, _) -> 1.5 * Math.tanh(s / 1.5));
    }

    @Test
    void attentionWithMasks() {
        double scale = 1 / Math.sqrt(SIZE);
        NdArray seen = booleans(sizes(QUERIES, KEYS), 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1);
        NdArray added = random(QUERIES, KEYS);
        check(
                run(
                        (g, in) -> g.attention(in.get(0), in.get(1), in.get(2), in.get(3), AttentionOptions.defaults()),
                        q,
                        k,
                        v,
                        seen),
                sizes(1, HEADS, QUERIES, SIZE),
                i -> attention(
                        q,
                        k,
                        v,
                        scale,
                        (s, query, key) -> seen.getLong(query * KEYS + key) == 1 ? s : Double.NEGATIVE_INFINITY,
                        i));
        check(
                run(
                        (g, in) -> g.attention(in.get(0), in.get(1), in.get(2), in.get(3), AttentionOptions.defaults()),
                        q,
                        k,
                        v,
                        added),
                sizes(1, HEADS, QUERIES, SIZE),
                i -> attention(q, k, v, scale, (s, query, key) -> s + added.get(query * KEYS + key), i));
    }

    @Test
    void ropeTurnsPairs() {
        NdArray x = random(2, 3, 4);
        NdArray cos = random(3, 2);
        NdArray sin = between(-1, 2, 3, 2);
        check(run((g, in) -> g.rope(in.get(0), in.get(1), in.get(2), true), x, cos, sin), sizes(2, 3, 4), i -> {
            int angle = i / 4 % 3 * 2 + i % 4 / 2;
            return i % 2 == 0
                    ? x.get(i) * cos.get(angle) - x.get(i + 1) * sin.get(angle)
                    : x.get(i - 1) * sin.get(angle) + x.get(i) * cos.get(angle);
        });
        check(run((g, in) -> g.rope(in.get(0), in.get(1), in.get(2), false), x, cos, sin), sizes(2, 3, 4), i -> {
            int angle = i / 4 % 3 * 2 + i % 2;
            return i % 4 < 2
                    ? x.get(i) * cos.get(angle) - x.get(i + 2) * sin.get(angle)
                    : x.get(i - 2) * sin.get(angle) + x.get(i) * cos.get(angle);
        });
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    private static final int STEPS = 4;
    private static final int BATCH = 2;
    private static final int INPUTS = 3;
    private static final int HIDDEN = 2;

    /** Row {@code row} of w on step t plus both biases, and of r on the state. */
    private static double[] gate(
            NdArray x, NdArray w, NdArray r, NdArray bias, double[] state, int t, int b, int row, int rows) {
        double in = bias.get(row);
        for (int i = 0; i < INPUTS; i++) {
            in += w.get(row * INPUTS + i) * x.get((t * BATCH + b) * INPUTS + i);
        }
        double back = bias.get(rows + row);
        for (int i = 0; i < HIDDEN; i++) {
            back += r.get(row * HIDDEN + i) * state[i];
        }
        return new double[] {in, back};
    }

    @Test
    void lstmIsItsRecurrence() {
        int rows = 4 * HIDDEN;
        NdArray x = random(STEPS, BATCH, INPUTS);
        NdArray w = random(1, rows, INPUTS);
        NdArray r = random(1, rows, HIDDEN);
        NdArray bias = between(-1, 1, 1, 2 * rows);
        NdArray h0 = random(1, BATCH, HIDDEN);
        NdArray c0 = between(-1, 1, 1, BATCH, HIDDEN);
        double[] outputs = new double[STEPS * BATCH * HIDDEN];
        double[] cells = new double[BATCH * HIDDEN];
        for (int b = 0; b < BATCH; b++) {
            double[] h = {h0.get(b * HIDDEN), h0.get(b * HIDDEN + 1)};
            double[] c = {c0.get(b * HIDDEN), c0.get(b * HIDDEN + 1)};
            for (int t = 0; t < STEPS; t++) {
                double[] sums = new double[rows];
                for (int row = 0; row < rows; row++) {
                    double[] both = gate(x, w, r, bias, h, t, b, row, rows);
                    sums[row] = both[0] + both[1];
                }
                for (int n = 0; n < HIDDEN; n++) { // gates in the order i o f c
                    c[n] = sigmoid(sums[2 * HIDDEN + n]) * c[n] + sigmoid(sums[n]) * Math.tanh(sums[3 * HIDDEN + n]);
                    h[n] = sigmoid(sums[HIDDEN + n]) * Math.tanh(c[n]);
                    outputs[(t * BATCH + b) * HIDDEN + n] = h[n];
                    cells[b * HIDDEN + n] = c[n];
                }
            }
        }
        List<NdArray> results = all(
                (g, in) -> {
                    SequenceOps.LstmResult lstm = g.lstm(
                            RecurrentInputs.of(in.get(0), in.get(1), in.get(2))
                                    .withBias(in.get(3))
                                    .withInitialHidden(in.get(4))
                                    .withInitialCell(in.get(5)),
                            RecurrentOptions.defaults());
                    return List.of(lstm.outputs(), lstm.hidden(), lstm.cell());
                },
                x,
                w,
                r,
                bias,
                h0,
                c0);
        check(results.get(0), sizes(STEPS, 1, BATCH, HIDDEN), outputs);
        check(results.get(1), sizes(1, BATCH, HIDDEN), i -> outputs[(STEPS - 1) * BATCH * HIDDEN + i]);
        check(results.get(2), sizes(1, BATCH, HIDDEN), cells);
    }

    /** The outputs, in the order of the steps that it walks. */
    private static double[] gru(NdArray x, NdArray w, NdArray r, NdArray bias, boolean resetAfter, boolean reverse) {
        int rows = 3 * HIDDEN;
        double[] outputs = new double[STEPS * BATCH * HIDDEN];
        for (int b = 0; b < BATCH; b++) {
            double[] h = new double[HIDDEN];
            for (int step = 0; step < STEPS; step++) {
                int t = reverse ? STEPS - 1 - step : step;
                double[] z = new double[HIDDEN];
                double[] reset = new double[HIDDEN];
                double[] gated = new double[HIDDEN];
                for (int n = 0; n < HIDDEN; n++) {
                    double[] update = gate(x, w, r, bias, h, t, b, n, rows);
                    z[n] = sigmoid(update[0] + update[1]);
                    double[] forget = gate(x, w, r, bias, h, t, b, HIDDEN + n, rows);
                    reset[n] = sigmoid(forget[0] + forget[1]);
                    gated[n] = reset[n] * h[n];
                }
                double[] next = new double[HIDDEN];
                for (int n = 0; n < HIDDEN; n++) {
                    double[] candidate = gate(x, w, r, bias, resetAfter ? h : gated, t, b, 2 * HIDDEN + n, rows);
                    double sum = candidate[0] + (resetAfter ? reset[n] * candidate[1] : candidate[1]);
                    next[n] = (1 - z[n]) * Math.tanh(sum) + z[n] * h[n];
                    outputs[(t * BATCH + b) * HIDDEN + n] = next[n];
                }
                h = next;
            }
        }
        return outputs;
    }

    @Test
    void gruIsItsRecurrence() {
        NdArray x = random(STEPS, BATCH, INPUTS);
        NdArray w = random(1, 3 * HIDDEN, INPUTS);
        NdArray r = random(1, 3 * HIDDEN, HIDDEN);
        NdArray bias = between(-1, 1, 1, 6 * HIDDEN);
        for (boolean after : new boolean[] {false, true}) {
            for (RnnDirection direction : new RnnDirection[] {RnnDirection.FORWARD, RnnDirection.REVERSE}) {
                NdArray result = run(
                        (g, in) -> g.gru(
                                        RecurrentInputs.of(in.get(0), in.get(1), in.get(2))
                                                .withBias(in.get(3)),
                                        RecurrentOptions.defaults()
                                                .withResetAfter(after)
                                                .withDirection(direction))
                                .outputs(),
                        x,
                        w,
                        r,
                        bias);
                check(
                        result,
                        sizes(STEPS, 1, BATCH, HIDDEN),
                        gru(x, w, r, bias, after, direction == RnnDirection.REVERSE));
            }
        }
    }
}
