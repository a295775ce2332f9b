package dev.tenon.core.ir.op.random;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Classes drawn with replacement, by their logarithmic weights, which need not be normalised.
 *
 * <p>[weights float [B,C]] → [classes [B,samples]], i32 or i64. The largest of {@code weight - ln(-ln(1 - u))}, with u
 * from {@link Random}: Gumbel's trick. C is 1 or more. ONNX Multinomial-7.
 */
public record Multinomial(long samples, DType dtype, long seed) implements Composite {
    public Multinomial {
        Rules.counts("multinomial", "the result", dtype);
        long count = samples;
        Expect.shape(count >= 0, "multinomial", () -> "asked for " + count + " samples; expected 0 or more");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Expect.floating(mnemonic(), "weights", inputs.getFirst());
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rank(mnemonic(), "weights", inputs.getFirst(), 2);
        Dim classes = inputs.getFirst().dim(1);
        Expect.shape(!classes.is(0), mnemonic(), () -> "there are no classes in " + inputs.getFirst());
        return List.of(inputs.getFirst().with(1, Dim.of(samples)));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value weights = inputs.getFirst();
        DType wide = weights.dtype().accumulator();
        long batch = weights.shape().size(0);
        long classes = weights.shape().size(1);
        Value u = g.add(new Random(RandomFn.UNIFORM, wide, List.of(batch, samples, classes), 0, 1, seed, false));
        Value one = g.scalar(wide, 1);
        Value waiting =
                g.add(Unary.of(UnaryFn.NEG), g.add(Unary.of(UnaryFn.LOG), g.add(new Binary(BinaryFn.SUB), one, u)));
        // u may be 0; a wait of 0 would beat a weight of any size
        Value positive = g.add(new Binary(BinaryFn.MAX), waiting, g.scalar(wide, 0x1p-25));
        Value score = g.add(
                new Binary(BinaryFn.SUB),
                g.add(Reshape.to(batch, 1, classes), Cast.to(g, weights, wide)),
                g.add(Unary.of(UnaryFn.LOG), positive));
        Value best = g.add(new ArgReduce(true, 2, false, false), score);
        return List.of(Cast.to(g, best, dtype));
    }
}
