package dev.tenon.core.ir.op.random;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/** {@link Random} of sizes given as a value. [sizes i64 [rank]] → [y]. ONNX RandomUniformLike-1, RandomNormalLike-1. */
public record RandomTo(RandomFn fn, DType dtype, double a, double b, long seed) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "sizes", inputs.getFirst());
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Rules.rankFrom(mnemonic(), "sizes", inputs.getFirst()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(0);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        List<Long> sizes = LongStream.of(known.longs(0)).boxed().toList();
        return List.of(g.add(new Random(fn, dtype, sizes, a, b, seed, false)));
    }
}
