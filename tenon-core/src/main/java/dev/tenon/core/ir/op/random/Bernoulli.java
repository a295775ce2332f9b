package dev.tenon.core.ir.op.random;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.rule.Expect;
import java.util.List;
import java.util.stream.LongStream;

/**
 * One with the probability that each element says, else zero: {@code u < p} with u from {@link Random}. [p float] → [y
 * of the type asked for, p's shape]. NaN gives zero. ONNX Bernoulli-15.
 */
public record Bernoulli(DType dtype, long seed) implements Composite {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.floating(mnemonic(), "p", inputs.getFirst());
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value p = inputs.getFirst();
        // in a short type the number would be rounded, up to 1 even
        DType wide = p.dtype().accumulator();
        List<Long> sizes = LongStream.of(p.shape().sizes()).boxed().toList();
        Value u = g.add(new Random(RandomFn.UNIFORM, wide, sizes, 0, 1, seed, false));
        return List.of(Cast.to(g, g.add(new Compare(CompareFn.LT), u, Cast.to(g, p, wide)), dtype));
    }
}
