package dev.tenon.core.ir.op.state;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The selective state space model of Mamba (S6). For each channel c and state n, with {@code d = delta[t,c]}:
 *
 * <pre>h[t,c,n] = exp(d a[c,n]) h[t-1,c,n] + d b[t,n] x[t,c]
 * y[t,c] = sum over n of c[t,n] h[t,c,n] + skip[c] x[t,c]</pre>
 *
 * <p>[x [B,T,C], delta [B,T,C], a [C,N], b [B,T,N], c [B,T,N], skip? [C], initial state? [B,C,N]] → [y [B,T,C], final
 * state [B,C,N]], all of one float type; the state is kept in float64 and rounded at the end. delta is past its
 * softplus already; a gate is a product outside. Without an initial state it is 0. Gu and Dao, <a
 * href="https://arxiv.org/abs/2312.00752">Mamba: Linear-Time Sequence Modeling with Selective State Spaces</a>, 2023,
 * algorithm 2 (b by Euler's rule, as its code has it).
 */
public record SelectiveScan(boolean skip, boolean initial) implements InUnits {
    private static final int X = 0;
    private static final int DELTA = 1;
    private static final int A = 2;
    private static final int B = 3;
    private static final int C = 4;
    private static final int SKIP = 5;

    private int state() {
        return skip ? SKIP + 1 : SKIP;
    }

    @Override
    public Arity arity() {
        return Arity.exactly(SKIP + (skip ? 1 : 0) + (initial ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Rules.sameFloat(mnemonic(), inputs);
        return List.of(dtype, dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        for (int i = 0; i < SKIP; i++) {
            Rules.rank(mnemonic(), "input " + i, inputs.get(i), i == A ? 2 : 3);
        }
        Shape y = Rules.merge(mnemonic(), "x", inputs.get(X), "delta", inputs.get(DELTA));
        Dim channels = Expect.dim(mnemonic(), "a", inputs.get(A), 0, y.dim(2));
        Dim states = inputs.get(A).dim(1);
        for (int i = B; i <= C; i++) {
            Expect.dim(mnemonic(), "input " + i, inputs.get(i), 0, y.dim(0));
            Expect.dim(mnemonic(), "input " + i, inputs.get(i), 1, y.dim(1));
            states = Expect.dim(mnemonic(), "input " + i, inputs.get(i), 2, states);
        }
        if (skip) {
            Rules.rank(mnemonic(), "skip", inputs.get(SKIP), 1);
            Expect.dim(mnemonic(), "skip", inputs.get(SKIP), 0, channels);
        }
        Shape last = Shape.of(y.dim(0), channels, states);
        return List.of(
                y, initial ? Rules.merge(mnemonic(), "state", last, "initial state", inputs.get(state())) : last);
    }

    /** A unit is a channel of a sequence. */
    @Override
    public long units(List<TensorType> inputs) {
        Shape x = inputs.getFirst().shape();
        return SizeMath.product(mnemonic(), x.size(0), x.size(2));
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return SizeMath.estimate(
                inputs.getFirst().shape().size(1),
                Math.max(1, inputs.get(A).shape().size(1)),
                24);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(X).shape();
        long steps = x.size(1);
        long channels = x.size(2);
        int states = SizeMath.toInt("selective_scan", at.input(A).shape().size(1));
        double[] h = new double[states];
        for (long unit = from; unit < to; unit++) {
            long channel = unit % channels;
            for (int n = 0; n < states; n++) {
                h[n] = initial ? at.get(state(), unit * states + n) : 0;
            }
            for (long step = 0; step < steps; step++) {
                long row = unit / channels * steps + step;
                double value = at.get(X, row * channels + channel);
                double delta = at.get(DELTA, row * channels + channel);
                double sum = skip ? at.get(SKIP, channel) * value : 0;
                for (int n = 0; n < states; n++) {
                    double kept = Math.exp(delta * at.get(A, channel * states + n));
                    h[n] = kept * h[n] + delta * at.get(B, row * states + n) * value;
                    sum += at.get(C, row * states + n) * h[n];
                }
                at.set(0, row * channels + channel, sum);
            }
            for (int n = 0; n < states; n++) {
                at.set(1, unit * states + n, h[n]);
            }
        }
    }
}
