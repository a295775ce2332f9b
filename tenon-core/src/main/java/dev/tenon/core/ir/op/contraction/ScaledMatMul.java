package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.error.ShapeException;
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
 * {@code x w^T} with the weight in integers of 8 or 4 bits and scales by row or by block of a row:
 * {@code w[n,k] = scale (q[n,k] - zero point)}. The weight is never written out whole.
 *
 * <p>[x [..., K], q [N,K] of i8, u8, i4 or u4, scale [N, blocks] of x's type, zero point? [N, blocks] of q's type] →
 * [y [..., N]] of x's float type. There are ceil(K / block) blocks; with {@code block} 0 one a row. Products are summed
 * in float64; where K is 0 the sum is 0.
 */
public record ScaledMatMul(long block, boolean zeroPoint) implements InUnits {
    private static final String NAME = "scaled_mat_mul";

    public ScaledMatMul {
        if (block < 0) {
            throw new ShapeException(NAME + ": blocks of " + block + " elements; expected 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(zeroPoint ? 4 : 3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType q = inputs.get(1);
        Expect.dtype(
                q == DType.I8 || q == DType.U8 || q == DType.I4 || q == DType.U4,
                NAME,
                () -> "q is " + q + "; expected i8, u8, i4 or u4");
        DType type = Expect.floating(NAME, "x", inputs.get(0));
        Expect.same(NAME, "scale", inputs.get(2), type);
        if (zeroPoint) {
            Expect.same(NAME, "zero point", inputs.get(3), q);
        }
        return List.of(type);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Shape q = inputs.get(1);
        Rules.rankAtLeast(NAME, "x", x, 1);
        Rules.rank(NAME, "q", q, 2);
        Expect.dim(NAME, "x", x, x.rank() - 1, q.dim(1));
        for (int i = 2; i < inputs.size(); i++) {
            String what = i == 2 ? "scale" : "zero point";
            Rules.rank(NAME, what, inputs.get(i), 2);
            Expect.dim(NAME, what, inputs.get(i), 0, q.dim(0));
            if (q.dim(1).isFixed()) {
                Expect.dim(NAME, what, inputs.get(i), 1, Dim.of(blocks(q.size(1))));
            }
        }
        return List.of(x.with(x.rank() - 1, q.dim(0)));
    }

    /** How many scales a row of so many elements has. */
    public long blocks(long depth) {
        return block == 0 ? 1 : Math.ceilDiv(depth, block);
    }

    /** A unit is a row of the weight, for all rows of x. */
    @Override
    public long units(List<TensorType> inputs) {
        return inputs.get(1).shape().size(0);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return SizeMath.sum(
                NAME,
                inputs.getFirst().shape().elements(),
                inputs.get(1).shape().size(1));
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        int size = SizeMath.toInt(NAME, x.size(x.rank() - 1));
        long rows = x.elements(0, x.rank() - 1);
        long columns = at.input(1).shape().size(0);
        long blocks = blocks(size);
        long each = block == 0 ? Math.max(1, size) : block;
        double[] weights = new double[size];
        double[] row = new double[size];
        for (long column = from; column < to; column++) {
            for (int k = 0; k < size; k++) {
                long scaled = column * blocks + k / each;
                long zero = zeroPoint ? at.getLong(3, scaled) : 0;
                weights[k] = at.get(2, scaled) * (at.getLong(1, column * size + k) - zero);
            }
            for (long i = 0; i < rows; i++) {
                at.read(0, i * size, row);
                double sum = 0;
                for (int k = 0; k < size; k++) {
                    sum += row[k] * weights[k];
                }
                at.set(0, i * columns + column, sum);
            }
        }
    }
}
