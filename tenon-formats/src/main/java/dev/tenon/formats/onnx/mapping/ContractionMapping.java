package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Einsum;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import java.util.List;

/** Matrix products. */
final class ContractionMapping {
    private ContractionMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "MatMul" -> matMul(n, n.in(0), n.in(1));
                    case "Gemm" -> gemm(n);
                    case "Einsum" ->
                        n.addAll(new Einsum(n.attrString("equation", "")), n.all())
                                .getFirst();
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    /** As numpy: a vector on the left is a row, on the right a column, and its dim is not in the result. */
    private static Value matMul(NodeContext n, Value a, Value b) {
        boolean row = a.shape().isRanked() && a.shape().rank() == 1;
        boolean column = b.shape().isRanked() && b.shape().rank() == 1;
        Value product = n.matmul(
                row ? ShapeChanges.unsqueeze(n, a, List.of(0L)) : a,
                column ? ShapeChanges.unsqueeze(n, b, List.of(1L)) : b);
        Value withoutColumn = column ? ShapeChanges.squeeze(n, product, List.of(-1L)) : product;
        return row ? ShapeChanges.squeeze(n, withoutColumn, List.of(column ? -1L : -2L)) : withoutColumn;
    }

    private static Value gemm(NodeContext n) {
        double alpha = n.attrFloat("alpha", 1);
        double beta = n.attrFloat("beta", 1);
        MatMul op = new MatMul(n.attrFlag("transA", false), n.attrFlag("transB", false), Epilogue.NONE);
        Value product = n.add(op, n.in(0), n.in(1));
        Value scaled = alpha == 1 ? product : n.mul(product, ShapeChanges.scalarLike(n, product, alpha));
        if (!n.has(2) || beta == 0) {
            return scaled;
        }
        Value bias = n.in(2);
        Value sum = n.add(scaled, beta == 1 ? bias : n.mul(bias, ShapeChanges.scalarLike(n, bias, beta)));
        return ShapeChanges.fitted(n, sum, product, "C " + bias.type());
    }
}
