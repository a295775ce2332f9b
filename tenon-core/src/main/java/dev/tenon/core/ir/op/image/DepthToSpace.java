package dev.tenon.core.ir.op.image;

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
 * Blocks of channels become blocks of pixels. The channel is [block row, block column, c], or with columnFirst (ONNX's
 * CRD mode) [c, block row, block column].
 *
 * <p>[x [B,C,H,W]] → [y [B, C/block², H*block, W*block]], of x's type. ONNX DepthToSpace-13.
 */
public record DepthToSpace(long block, boolean columnFirst) implements Composite {
    public DepthToSpace {
        SpaceToDepth.checkBlock("depth_to_space", block);
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
        Dim channels = Rules.divide(mnemonic(), "channels", x.dim(1), block * block);
        Dim side = Dim.of(block);
        return List.of(
                Shape.of(x.dim(0), channels, x.dim(2).times(side), x.dim(3).times(side)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        long[] x = inputs.getFirst().shape().sizes();
        long channels = x[1] / (block * block);
        Value moved = columnFirst
                ? g.add(
                        Transpose.of(0, 1, 4, 2, 5, 3),
                        g.add(Reshape.to(x[0], channels, block, block, x[2], x[3]), inputs.getFirst()))
                : g.add(
                        Transpose.of(0, 3, 4, 1, 5, 2),
                        g.add(Reshape.to(x[0], block, block, channels, x[2], x[3]), inputs.getFirst()));
        return List.of(g.add(Reshape.to(x[0], channels, x[2] * block, x[3] * block), moved));
    }
}
