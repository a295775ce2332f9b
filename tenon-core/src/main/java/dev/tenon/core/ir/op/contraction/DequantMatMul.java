package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * {@code x w^T} with the weight packed in blocks, one row for each column of the result, as GGUF files have it; the
 * weight is never written out whole.
 *
 * <p>[x [..., K], packed u8 [N, K / elements of a block * bytes of a block]] → [y [..., N]] of x's float type. K is a
 * multiple of the block. Products are summed in float64.
 */
public record DequantMatMul(BlockFormat format) implements InUnits {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.same(mnemonic(), "packed", inputs.get(1), DType.U8);
        return List.of(Expect.floating(mnemonic(), "x", inputs.get(0)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.get(0);
        Shape packed = inputs.get(1);
        Rules.rankAtLeast(mnemonic(), "x", x, 1);
        Rules.rank(mnemonic(), "packed", packed, 2);
        Expect.dim(mnemonic(), "x", x, x.rank() - 1, DecodeBlocks.elements(mnemonic(), format, packed));
        return List.of(x.with(x.rank() - 1, packed.dim(0)));
    }

    /** A unit is a row of the weight, for all rows of x. */
    @Override
    public long units(List<TensorType> inputs) {
        return inputs.get(1).shape().size(0);
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        Shape x = inputs.getFirst().shape();
        return SizeMath.sum("dequant_matmul", x.elements(), SizeMath.estimate(8, x.size(x.rank() - 1)));
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        int size = SizeMath.toInt("dequant_matmul", x.size(x.rank() - 1));
        long rows = x.elements(0, x.rank() - 1);
        long columns = at.input(1).shape().size(0);
        int each = format.elements();
        int blocks = size / each;
        byte[] packed = new byte[format.bytes()];
        double[] weights = new double[size];
        double[] row = new double[size];
        for (long column = from; column < to; column++) {
            for (int block = 0; block < blocks; block++) {
                at.read(1, (column * blocks + block) * packed.length, packed);
                BlockDecoder.decode(format, packed, weights, block * each);
            }
            for (long i = 0; i < rows; i++) {
                // a single row, which is what decoding has, is read once
                if (rows > 1 || column == from) {
                    at.read(0, i * size, row);
                }
                at.set(0, i * columns + column, dot(row, weights));
            }
        }
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
