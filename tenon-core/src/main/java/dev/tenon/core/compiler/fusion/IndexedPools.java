package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import java.util.Arrays;
import java.util.List;

/** Pools that tell where their maxima lie, with channels innermost; places are told as if channels were second. */
final class IndexedPools {
    private IndexedPools() {}

    /**
     * Maxima and their places, channels innermost.
     *
     * @param op whose places are counted row by row
     * @param x its channels innermost
     */
    static List<Value> of(MaxPoolIndices op, Value x, Rewriter into) {
        Shape shape = x.shape();
        MaxPoolIndices moved = new MaxPoolIndices(
                AxisOrder.with(op.kernel(), 1),
                AxisOrder.with(op.strides(), 1),
                AxisOrder.with(op.padsBefore(), 0),
                AxisOrder.with(op.padsAfter(), 0),
                AxisOrder.with(op.dilations(), 1),
                op.ceil(),
                false);
        // the channels are one more spatial dim, of which every window has one cell
        Shape spread = Shape.of(shape.dim(0), Dim.of(1)).concat(shape.range(1, shape.rank()));
        List<Value> results = into.addAll(moved, List.of(into.reshape(x, spread.sizes())));
        Shape y = results.getFirst().shape();
        long[] joined = Shape.of(y.dim(0)).concat(y.range(2, y.rank())).sizes();
        return List.of(
                into.reshape(results.getFirst(), joined), places(into.reshape(results.getLast(), joined), shape, into));
    }

    /** b H W C + c H W + i for b H W C + i C + c, of which the first and the last are known by where they stand. */
    private static Value places(Value indices, Shape x, Rewriter into) {
        int rank = x.rank();
        long images = x.size(0);
        long channels = x.size(rank - 1);
        long area = x.elements(1, rank - 1);
        int count = SizeMath.toInt("max_pool_indices", SizeMath.product("max_pool_indices", images, channels));
        double[] before = new double[count];
        double[] after = new double[count];
        for (int i = 0; i < count; i++) {
            long image = i / channels * channels * area;
            before[i] = (double) (image + i % channels);
            after[i] = (double) (image + i % channels * area);
        }
        long[] sizes = new long[rank];
        Arrays.fill(sizes, 1);
        sizes[0] = images;
        sizes[rank - 1] = channels;
        Shape each = Shape.of(sizes);
        Value within = into.add(
                new Binary(BinaryFn.SUB), indices, into.constant(ScaledConstants.dense(DType.I64, each, before)));
        Value place = into.add(
                new Binary(BinaryFn.DIV),
                within,
                into.constant(ScaledConstants.dense(DType.I64, Shape.of(1), new double[] {channels})));
        return into.add(new Binary(BinaryFn.ADD), place, into.constant(ScaledConstants.dense(DType.I64, each, after)));
    }
}
