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
 * Linear attention with a state S [K,V] a head that decays and is corrected by the delta rule:
 *
 * <pre>S' = exp(decay[t]) S[t-1]
 * S[t] = S' + k[t] (beta[t] (v[t] - S'^T k[t]))^T
 * y[t] = scale S[t]^T q[t]</pre>
 *
 * <p>Without {@code delta} it is {@code S[t] = S' + k[t] v[t]^T}, without {@code decay} {@code S' = S[t-1]}: plain
 * linear attention, and what lies between.
 *
 * <p>[q [B,H,T,K], k [B,G,T,K], v [B,G,T,V], decay? [B,G,T,1 or K] (a logarithm: 0 keeps all), beta? [B,G,T], initial
 * state? [B,G,K,V]] → [y [B,H,T,V], final state [B,G,K,V]], all of one float type; beta is there with {@code delta}. H
 * is a multiple of G, query head h reads state {@code h / (H / G)}. The state is kept in float64 and rounded at the
 * end. {@code scale} NaN means 1/sqrt(K). Yang, Kautz, Hatamizadeh, <a href="https://arxiv.org/abs/2412.06464">Gated
 * Delta Networks</a>, 2024; ONNX LinearAttention-27.
 */
public record GatedDeltaNet(boolean decay, boolean delta, boolean initial, double scale) implements InUnits {
    private static final int Q = 0;
    private static final int K = 1;
    private static final int V = 2;
    private static final int DECAY = 3;

    private int beta() {
        return decay ? DECAY + 1 : DECAY;
    }

    private int state() {
        return beta() + (delta ? 1 : 0);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(state() + (initial ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Rules.sameFloat(mnemonic(), inputs);
        return List.of(dtype, dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape q = inputs.get(Q);
        Shape k = inputs.get(K);
        Shape v = inputs.get(V);
        Rules.rank(mnemonic(), "q", q, 4);
        Rules.rank(mnemonic(), "k", k, 4);
        Rules.rank(mnemonic(), "v", v, 4);
        Dim batch = Expect.dim(mnemonic(), "v", v, 0, Expect.dim(mnemonic(), "k", k, 0, q.dim(0)));
        Dim groups = Expect.dim(mnemonic(), "v", v, 1, k.dim(1));
        Dim steps = Expect.dim(mnemonic(), "v", v, 2, Expect.dim(mnemonic(), "k", k, 2, q.dim(2)));
        Dim size = Expect.dim(mnemonic(), "k", k, 3, q.dim(3));
        Expect.shape(
                !groups.isFixed()
                        || !q.dim(1).isFixed()
                        || (groups.size() > 0 && q.dim(1).size() % groups.size() == 0),
                mnemonic(),
                () -> "query heads are not a multiple of key heads: q " + q + ", k " + k);
        Shape each = Shape.of(batch, groups, steps);
        if (decay) {
            Shape has = inputs.get(DECAY);
            Rules.rank(mnemonic(), "decay", has, 4);
            Expect.same(
                    mnemonic(), "decay", has, each.concat(Shape.of(has.dim(3).is(1) ? Dim.of(1) : size)));
        }
        if (delta) {
            Expect.same(mnemonic(), "beta", inputs.get(beta()), each);
        }
        Shape last = Shape.of(batch, groups, size, v.dim(3));
        return List.of(
                Shape.of(batch, q.dim(1), steps, v.dim(3)),
                initial ? Rules.merge(mnemonic(), "state", last, "initial state", inputs.get(state())) : last);
    }

    /** A unit is a column of a head's state: the columns do not touch each other. */
    @Override
    public long units(List<TensorType> inputs) {
        Shape v = inputs.get(V).shape();
        return SizeMath.product(mnemonic(), v.elements(0, 2), v.size(3));
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape q = inputs.get(Q).shape();
        long heads = q.size(1) / Math.max(1, inputs.get(K).shape().size(1));
        return SizeMath.estimate(q.size(2), q.size(3), Math.max(1, heads), decay ? 28 : 8);
    }

    @Override
    public void compute(Operands at, long from, long to) {
        long columns = at.input(V).shape().size(3);
        int size = SizeMath.toInt("gated_delta_net", at.input(K).shape().size(3));
        double[] s = new double[size];
        for (long unit = from; unit < to; unit++) {
            long head = unit / columns;
            long column = unit % columns;
            for (int i = 0; i < size; i++) {
                s[i] = initial ? at.get(state(), (head * size + i) * columns + column) : 0;
            }
            run(at, head, column, s);
            for (int i = 0; i < size; i++) {
                at.set(1, (head * size + i) * columns + column, s[i]);
            }
        }
    }

    private void run(Operands at, long head, long column, double[] s) {
        Shape q = at.input(Q).shape();
        long steps = q.size(2);
        long columns = at.input(V).shape().size(3);
        long groups = at.input(K).shape().size(1);
        long heads = q.size(1) / groups;
        double factor = Double.isNaN(scale) ? 1 / Math.sqrt((double) s.length) : scale;
        for (long step = 0; step < steps; step++) {
            long row = head * steps + step;
            forget(at, row, s);
            double target = at.get(V, row * columns + column);
            if (delta) {
                double seen = 0;
                for (int i = 0; i < s.length; i++) {
                    seen += at.get(K, row * s.length + i) * s[i];
                }
                target = at.get(beta(), row) * (target - seen);
            }
            for (int i = 0; i < s.length; i++) {
                s[i] += at.get(K, row * s.length + i) * target;
            }
            for (long reader = 0; reader < heads; reader++) {
                // of query heads the batch and the group come first too
                long query = (head * heads + reader) * steps + step;
                double sum = 0;
                for (int i = 0; i < s.length; i++) {
                    sum += at.get(Q, query * s.length + i) * s[i];
                }
                at.set(0, query * columns + column, factor * sum);
            }
        }
    }

    private void forget(Operands at, long row, double[] s) {
        if (!decay) {
            return;
        }
        boolean single = at.input(DECAY).shape().size(3) == 1;
        double all = single ? Math.exp(at.get(DECAY, row)) : 0;
        for (int i = 0; i < s.length; i++) {
            s[i] *= single ? all : Math.exp(at.get(DECAY, row * s.length + i));
        }
    }
}
