package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.DenseProduct;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Matrix product over the last two dims, batched and broadcast over the others (numpy matmul; vectors are the
 * importer's business, both ranks are at least 2), each operand transposed in its last two dims on request, then the
 * epilogue. [a, b, bias?, residual?].
 *
 * <p>{@code y[...,i,j] = residual + activation(bias[j] + sum over k of a[...,i,k] b[...,k,j])}. Shapes
 * {@code [...,M,K]} and {@code [...,K,N]} give {@code [...,M,N]}; bias {@code [N]}, residual {@code [...,M,N]}. All
 * operands have one numeric type, which the result has too; integers wrap; an activation wants floats. Where K is 0 the
 * sum is 0, and the epilogue still applies. ONNX MatMul-13.
 */
public record MatMul(boolean transposeA, boolean transposeB, Epilogue epilogue) implements Primitive, Contraction {
    public MatMul {
        Expect.shape(
                !epilogue.residualFirst(), "mat_mul", () -> "its epilogue adds a residual behind the activation only");
    }

    /** As messages call it. */
    private static final String NAME = "matmul";

    @Override
    public MatMul with(Epilogue replaced) {
        return new MatMul(transposeA, transposeB, replaced);
    }

    @Override
    public int biasAxis(int rank) {
        return rank - 1;
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 + epilogue.inputs());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Rules.sameNumeric(NAME, inputs);
        epilogue.checkType(NAME, dtype);
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape a = inputs.get(0);
        Shape b = inputs.get(1);
        Expect.shape(
                a.rank() >= 2 && b.rank() >= 2, NAME, () -> "operands need rank 2 or more: lhs " + a + ", rhs " + b);
        int innerB = b.rank() - (transposeB ? 1 : 2);
        Dim k = a.dim(a.rank() - (transposeA ? 2 : 1));
        Expect.shape(
                k.mayEqual(b.dim(innerB)),
                NAME,
                () -> "inner dimensions differ: lhs " + a + (transposeA ? " transposed" : "") + ", rhs " + b
                        + (transposeB ? " transposed" : "") + "; expected rhs dim " + innerB + " = " + k);
        Dim n = b.dim(b.rank() - (transposeB ? 2 : 1));
        Shape matrix = Shape.of(a.dim(a.rank() - (transposeA ? 1 : 2)), n);
        Shape result = batch(a, b).concat(matrix);
        epilogue.checkShapes(NAME, inputs, n, result);
        return List.of(result);
    }

    private static Shape batch(Shape a, Shape b) {
        Shape batchA = a.range(0, a.rank() - 2);
        Shape batchB = b.range(0, b.rank() - 2);
        for (int i = 1; i <= Math.min(batchA.rank(), batchB.rank()); i++) {
            Dim x = batchA.dim(batchA.rank() - i);
            Dim y = batchB.dim(batchB.rank() - i);
            Expect.shape(
                    x.is(1) || y.is(1) || x.mayEqual(y),
                    NAME,
                    () -> "batch dimensions do not broadcast: lhs " + a + ", rhs " + b + "; " + x + " against " + y);
        }
        return Shape.broadcast(batchA, batchB);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray a = inputs.get(0);
        NdArray b = inputs.get(1);
        Shape shape = result.shape();
        int rank = shape.rank();
        int m = SizeMath.toInt(NAME, shape.size(rank - 2));
        int n = SizeMath.toInt(NAME, shape.size(rank - 1));
        int k = SizeMath.toInt(NAME, a.shape().size(a.shape().rank() - (transposeA ? 2 : 1)));
        Shape batch = shape.range(0, rank - 2);
        int[] batchA = Indexing.broadcast(a.shape().range(0, a.shape().rank() - 2), batch);
        int[] batchB = Indexing.broadcast(b.shape().range(0, b.shape().rank() - 2), batch);
        DenseProduct product = DenseProduct.of(a, b, result);
        for (int i = 0; i < batchA.length; i++) {
            product.multiply(
                    DenseProduct.View.of(batchA[i] * m * k, m, k, transposeA),
                    DenseProduct.View.of(batchB[i] * k * n, k, n, transposeB),
                    DenseProduct.View.rows(i * m * n, n),
                    m,
                    k,
                    n);
        }
        product.store();
        epilogue.apply(result, inputs, i -> i % n);
        return List.of(result);
    }

    /** Neither transposed nor finished in any way. */
    public static MatMul plain() {
        return new MatMul(false, false, Epilogue.NONE);
    }
}
