package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.stream.LongStream;

/** One with the probability that each element says, else zero: {@code u < p} with u from {@link Random}. [p float] → [y of the type asked for, p's shape]. NaN gives zero. ONNX Bernoulli-15. */
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
    public List<Value> decompose(Ops g, List<Value> inputs) {
        Value p = inputs.getFirst();
        // in a short type the number would be rounded, up to 1 even
        DType wide = p.dtype().accumulator();
        List<Long> sizes = LongStream.of(p.shape().sizes()).boxed().toList();
        Value u = g.add(new Random(RandomFn.UNIFORM, wide, sizes, 0, 1, seed, false));
        return List.of(g.cast(g.compare(CompareFn.LT, u, g.cast(p, wide)), dtype));
    }
}
