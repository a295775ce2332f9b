package dev.tenon.core.ir.op.image;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Blocks of pixels become channels [block row, block column, c]. [x [B,C,H,W]] → [y [B, C*block², H/block, W/block]],
 * of x's type. ONNX SpaceToDepth-13.
 */
public record SpaceToDepth(long block) implements Composite {
    public SpaceToDepth {
        checkBlock("space_to_depth", block);
    }

    static void checkBlock(String op, long block) {
        if (block < 1 || block > Integer.MAX_VALUE) {
            throw new ShapeException(op + ": block is " + block + "; expected 1 to 2^31 - 1");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(mnemonic(), "x", x, 4);
        return List.of(Shape.of(
                x.dim(0),
                x.dim(1).times(Dim.of(block * block)),
                Rules.divide(mnemonic(), "height", x.dim(2), block),
                Rules.divide(mnemonic(), "width", x.dim(3), block)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        long[] x = inputs.getFirst().shape().sizes();
        long height = x[2] / block;
        long width = x[3] / block;
        Value apart = g.add(Reshape.to(x[0], x[1], height, block, width, block), inputs.getFirst());
        return List.of(g.add(
                Reshape.to(x[0], x[1] * block * block, height, width), g.add(Transpose.of(0, 3, 5, 1, 2, 4), apart)));
    }
}
