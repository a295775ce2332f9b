package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * A gated linear unit: y = activation(a) b, where a and b are the halves of the last axis; or a activation(b).
 *
 * <p>[x [...,2N]] → [y [...,N]], of one float type, to which activation(a) is rounded, too. With gelu it is GeGLU,
 * with silu SwiGLU: Shazeer, <a href="https://arxiv.org/abs/2002.05202">GLU Variants Improve Transformer</a>, 2020.
 *
 * @param activation a function of floats
 * @param second whether it is of the second half
 */
public record GatedUnit(Unary activation, boolean second) implements Claimable {
    private static final String NAME = "gated_unit";

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Expect.floating(NAME, "x", inputs.getFirst());
        Expect.same(NAME, "activation", activation.dtypes(List.of(dtype)).getFirst(), dtype);
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Expect.shape(x.rank() >= 1, NAME, () -> "x is a scalar; expected rank 1 or more");
        Dim half = Rules.divide(NAME, "last dim", x.dim(x.rank() - 1), 2);
        return List.of(x.with(x.rank() - 1, half));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        int last = x.shape().rank() - 1;
        long half = x.shape().size(last) / 2;
        Value first = g.add(Slice.along(x.shape(), last, 0, half), x);
        Value other = g.add(Slice.along(x.shape(), last, half, 2 * half), x);
        Value gate = g.add(activation, second ? other : first);
        return List.of(g.add(new Binary(BinaryFn.MUL), gate, second ? first : other));
    }
}
