package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * 1 at the first maximum of an axis, 0 elsewhere; a NaN is the maximum. [x] → [y], of x's shape and float type. ONNX
 * Hardmax-13.
 */
public record Hardmax(int axis) implements Composite {
    public Hardmax {
        Rules.fromFront("hardmax", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return inputs;
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        if (x.shape().size(axis) == 0) {
            return inputs;
        }
        Value where = g.add(new ArgReduce(true, axis, false, false), x);
        Value values =
                g.constant(NdArray.of(TensorType.of(x.dtype(), 2), 0.0, 1.0).toConstant());
        return List.of(g.add(new OneHot(x.shape().size(axis), axis), where, values));
    }
}
