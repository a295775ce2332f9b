package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Product of 8-bit matrices less their zero points, in i32: sum (a - za)(b - zb). [a u8/i8, b u8/i8, za? (scalar or one
 * a row), zb? (scalar or one a column)]. ONNX MatMulInteger-10.
 *
 * <p>Shapes as {@link MatMul}'s without an epilogue; each zero point has its operand's type, and shape {@code []},
 * {@code [1]}, or {@code [M]} and {@code [N]}. Sums wrap.
 */
public record MatMulInteger(boolean zeroPointA, boolean zeroPointB) implements Primitive {
    private static final MatMul PRODUCT = new MatMul(false, false, Epilogue.NONE);

    @Override
    public Arity arity() {
        return Arity.exactly(2 + (zeroPointA ? 1 : 0) + (zeroPointB ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        for (DType dtype : inputs) {
            Expect.dtype(
                    dtype == DType.U8 || dtype == DType.I8,
                    mnemonic(),
                    () -> "operands are " + inputs + "; expected u8 or i8");
        }
        if (zeroPointA) {
            Expect.same(mnemonic(), "lhs zero point", inputs.get(2), inputs.get(0));
        }
        if (zeroPointB) {
            Expect.same(mnemonic(), "rhs zero point", inputs.getLast(), inputs.get(1));
        }
        return List.of(DType.I32);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape result = PRODUCT.shapes(inputs.subList(0, 2)).getFirst();
        if (zeroPointA) {
            checkZeroPoint("lhs zero point", inputs.get(2), result.range(result.rank() - 2, result.rank() - 1));
        }
        if (zeroPointB) {
            checkZeroPoint("rhs zero point", inputs.getLast(), result.range(result.rank() - 1, result.rank()));
        }
        return List.of(result);
    }

    private void checkZeroPoint(String operand, Shape shape, Shape vector) {
        Rules.broadcastsTo(mnemonic(), operand, shape, vector);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        Rules.results(this, inputs);
        NdArray rows = zeroPointA ? inputs.get(2) : NdArray.ofLongs(0);
        NdArray columns = zeroPointB ? inputs.getLast() : NdArray.ofLongs(0);
        // one a row is a column vector to broadcasting
        NdArray a = less(inputs.get(0), rows.reshaped(Shape.of(rows.size(), 1)));
        NdArray b = less(inputs.get(1), columns.reshaped(Shape.of(columns.size())));
        return PRODUCT.evaluate(List.of(a, b));
    }

    private static NdArray less(NdArray x, NdArray zeroPoint) {
        NdArray difference = NdArray.zeros(new TensorType(DType.I32, x.shape()));
        int[] at = Indexing.broadcast(zeroPoint.shape(), x.shape());
        for (int i = 0; i < x.size(); i++) {
            difference.set(i, x.getLong(i) - zeroPoint.getLong(at[i]));
        }
        return difference;
    }
}
