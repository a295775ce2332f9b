package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.DenseProduct;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * One matrix product for each group of consecutive rows: row r of expert e's rows is multiplied by weights[e]. [tokens
 * [T,K], weights [E,K,N], counts [E] i32/i64, which sum to T] -> [T,N].
 *
 * <p>Tokens and weights have one float type, which the result has too. An expert may have no rows, and all of them may.
 */
public record GroupedMatMul() implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Expect.floating(mnemonic(), "tokens", inputs.get(0));
        Expect.same(mnemonic(), "weights", inputs.get(1), dtype);
        Expect.dtype(
                inputs.get(2) == DType.I32 || inputs.get(2) == DType.I64,
                mnemonic(),
                () -> "counts are " + inputs.get(2) + "; expected i32 or i64");
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape tokens = inputs.get(0);
        Shape weights = inputs.get(1);
        Shape counts = inputs.get(2);
        Rules.rank(mnemonic(), "tokens", tokens, 2);
        Rules.rank(mnemonic(), "weights", weights, 3);
        Rules.rank(mnemonic(), "counts", counts, 1);
        Expect.dim(mnemonic(), "weights", weights, 1, tokens.dim(1));
        Expect.dim(mnemonic(), "counts", counts, 0, weights.dim(0));
        return List.of(Shape.of(tokens.dim(0), weights.dim(2)));
    }

    /** @throws DataException when a count is negative, or they do not sum to the number of rows */
    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        Shape weights = inputs.get(1).shape();
        int k = SizeMath.toInt("grouped_matmul", weights.size(1));
        int n = SizeMath.toInt("grouped_matmul", weights.size(2));
        long[] counts = inputs.get(2).toLongs();
        long rows = inputs.get(0).shape().size(0);
        DenseProduct product = DenseProduct.of(inputs.get(0), inputs.get(1), result);
        long row = 0;
        for (int expert = 0; expert < counts.length; expert++) {
            long count = counts[expert];
            if (count < 0 || count > rows - row) {
                throw new DataException(
                        mnemonic() + ": count " + count + " of expert " + expert + " does not fit " + rows + " rows");
            }
            product.multiply(
                    DenseProduct.View.rows((int) row * k, k),
                    DenseProduct.View.rows(expert * k * n, n),
                    DenseProduct.View.rows((int) row * n, n),
                    (int) count,
                    k,
                    n);
            row += count;
        }
        if (row != rows) {
            throw new DataException(mnemonic() + ": counts sum to " + row + "; expected the number of rows, " + rows);
        }
        product.store();
        return List.of(result);
    }
}
