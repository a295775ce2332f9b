package dev.tenon.core.ir.op.pooling;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Puts maxima back where {@link MaxPoolIndices} found them, zeros elsewhere.
 *
 * <p>[x [B,C,...], indices i64 like x, each flat over all of the result] → [y [B,C,spatial...]] of x's type. The first
 * maximum in memory order loses to a later one of the same place. ONNX MaxUnpool-11.
 */
public record MaxUnpool(List<Long> spatial) implements Composite {
    private static final String NAME = "max_unpool";

    public MaxUnpool {
        spatial = List.copyOf(spatial);
        List<Long> sizes = spatial;
        Expect.shape(
                !sizes.isEmpty() && Windows.atLeast(0, sizes), NAME, () -> "sizes " + sizes + " need to be 0 or more");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.tuples(NAME, "indices", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(NAME, "x", x, spatial.size() + 2);
        Expect.same(NAME, "indices", inputs.get(1), x);
        return List.of(x.range(0, 2).concat(Shape.ofSizes(spatial)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        Shape y = x.shape().range(0, 2).concat(Shape.ofSizes(spatial));
        long count = x.shape().elements();
        Value empty = g.constant(
                new ConstantData.Splat(TensorType.of(x.dtype(), y.elements()), Elements.fromDouble(x.dtype(), 0)));
        Value flat = g.add(
                new ScatterElements(0, ScatterFn.REPLACE),
                empty,
                g.add(Reshape.to(count), inputs.get(1)),
                g.add(Reshape.to(count), x));
        return List.of(g.add(Reshape.to(y.sizes()), flat));
    }
}
