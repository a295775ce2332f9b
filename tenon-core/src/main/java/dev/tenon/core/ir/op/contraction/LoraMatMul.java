package dev.tenon.core.ir.op.contraction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * A product with a weight and its low-rank adaptation: {@code x w + scale (x a) b}.
 *
 * <p>[x [..., K], w [K,N], a [K,R], b [R,N]] → [y [..., N]], all of one float type; of a short one each product is
 * rounded. Hu et al., <a href="https://arxiv.org/abs/2106.09685">LoRA</a>, 2021; scale is its alpha / R.
 */
public record LoraMatMul(double scale) implements Composite {
    private static final MatMul PRODUCT = new MatMul(false, false, Epilogue.NONE);

    @Override
    public Arity arity() {
        return Arity.exactly(4);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        for (int i = 1; i < 4; i++) {
            Rules.rank(mnemonic(), i == 1 ? "w" : i == 2 ? "a" : "b", inputs.get(i), 2);
        }
        Shape y = PRODUCT.shapes(inputs.subList(0, 2)).getFirst();
        Shape low = PRODUCT.shapes(List.of(inputs.get(0), inputs.get(2))).getFirst();
        return List.of(Rules.merge(
                mnemonic(),
                "x w",
                y,
                "x a b",
                PRODUCT.shapes(List.of(low, inputs.get(3))).getFirst()));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        Value low = g.add(MatMul.plain(), g.add(MatMul.plain(), x, inputs.get(2)), inputs.get(3));
        return List.of(g.add(
                new Binary(BinaryFn.ADD),
                g.add(MatMul.plain(), x, inputs.get(1)),
                g.add(new Binary(BinaryFn.MUL), low, g.scalar(x.dtype(), scale))));
    }
}
