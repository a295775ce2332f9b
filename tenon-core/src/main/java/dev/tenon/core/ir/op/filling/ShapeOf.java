package dev.tenon.core.ir.op.filling;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/**
 * The sizes of the axes [start, end) of its input (negative ones from the back, clamped; end Long.MAX_VALUE: all), i64.
 * Needs no value, only a concrete shape.
 *
 * <p>[x] → [i64 [count]]; any type. ONNX Shape-15.
 */
public record ShapeOf(long start, long end) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(DType.I64);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Shape.of((long) axes(inputs.getFirst()).rank()));
    }

    /** A vector, whatever the input's rank. */
    @Override
    public List<TensorType> infer(List<TensorType> inputs) {
        return inputs.size() == 1 && !inputs.getFirst().shape().isRanked()
                ? List.of(new TensorType(DType.I64, Shape.unknown(1)))
                : Deferred.super.infer(inputs);
    }

    private Shape axes(Shape x) {
        int from = clamp(start, x.rank());
        return x.range(from, Math.max(from, clamp(end, x.rank())));
    }

    private static int clamp(long axis, int rank) {
        return Math.clamp(axis < 0 ? axis + rank : axis, 0, rank);
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        long[] sizes = axes(inputs.getFirst().shape()).sizes();
        return List.of(g.constant(NdArray.ofLongs(sizes).toConstant()));
    }
}
