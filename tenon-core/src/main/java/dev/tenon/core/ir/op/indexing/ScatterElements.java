package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * A copy of data with updates put at (or added to, multiplied into, ...) the indices along an axis: out[i,
 * indices[i,j,k], k] for axis 1.
 *
 * <p>[data, indices i32 or i64, updates of the indices' shape] → [y], of data's type, which the updates have too. In
 * index order, so the result never depends on threads; duplicates add and multiply in the accumulator's type ({@link
 * DType#accumulator}), rounded to it after each. Negative indices count from the end; one out of range is a
 * {@link dev.tenon.core.error.DataException}. ONNX ScatterElements-18.
 */
public record ScatterElements(int axis, ScatterFn fn) implements Primitive {
    public ScatterElements {
        Rules.fromFront("scatter_elements", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.indices(mnemonic(), inputs.get(1));
        return List.of(Scattering.dtype(mnemonic(), fn, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        Shape moved = Rules.merge(mnemonic(), "indices", inputs.get(1), "updates", inputs.get(2));
        Scattering.elementsFit(mnemonic(), axis, inputs.getFirst(), moved);
        return List.of(inputs.getFirst());
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        Rules.results(this, inputs);
        int[] to = Scattering.elementOffsets(mnemonic(), axis, inputs.get(0).shape(), inputs.get(1));
        return List.of(Scattering.scatter(fn, inputs.get(0), to, inputs.get(2), 1));
    }
}
