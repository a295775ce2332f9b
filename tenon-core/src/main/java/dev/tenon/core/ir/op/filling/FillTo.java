package dev.tenon.core.ir.op.filling;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * A constant of sizes given as a value, a splat of {@code element} (of one element): however large, it costs nothing.
 *
 * <p>[sizes i64] → [y], of the element's type. ONNX ConstantOfShape-9.
 */
public record FillTo(ConstantData element) implements Deferred {
    public FillTo {
        if (element.type().shape().elements() != 1) {
            throw new ShapeException("fill_to: element " + element.type() + "; expected one of one element");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "sizes", inputs.getFirst());
        return List.of(element.type().dtype());
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
    public boolean needsShapes() {
        return false;
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        DType type = element.type().dtype();
        long bits = switch (element) {
            case ConstantData.Splat splat -> splat.element();
            case ConstantData.Dense dense -> Elements.bits(type, dense.segment(), 0);
        };
        return List.of(g.constant(new ConstantData.Splat(TensorType.of(type, known.longs(0)), bits)));
    }
}
