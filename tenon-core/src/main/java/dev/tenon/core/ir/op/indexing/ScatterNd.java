package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * A copy of data with slices of updates put at (or added to, ...) index tuples, the last dim of indices.
 *
 * <p>[data, indices i64 [I...,k], updates of indices.shape[:-1] + data.shape[k:]] → [y], of data's type, which the
 * updates have too. Order, duplicates and range as in {@link ScatterElements}. ONNX ScatterND-18.
 */
public record ScatterNd(ScatterFn fn) implements Primitive {
    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.tuples(mnemonic(), "indices", inputs.get(1));
        return List.of(Scattering.dtype(mnemonic(), fn, inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape data = inputs.get(0);
        Rules.rankAtLeast(mnemonic(), "data", data, 1);
        Rules.rankAtLeast(mnemonic(), "indices", inputs.get(1), 1);
        Shape slices = Scattering.slicesShape(mnemonic(), 0, data, inputs.get(1));
        if (!slices.mayEqual(inputs.get(2))) {
            throw new ShapeException(mnemonic() + ": updates " + inputs.get(2) + " for data " + data + " and indices "
                    + inputs.get(1) + "; expected " + slices);
        }
        return List.of(data);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        Rules.results(this, inputs);
        int[] slices = Scattering.sliceOffsets(mnemonic(), 0, inputs.get(0).shape(), inputs.get(1));
        int size = slices.length == 0 ? 1 : inputs.get(2).size() / slices.length;
        return List.of(Scattering.scatter(fn, inputs.get(0), slices, inputs.get(2), size));
    }
}
