package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Slices of data at index tuples, the last dim of indices; the first {@code batchDims} dims of both run in step.
 *
 * <p>[data, indices i64 [B...,I...,k]] → [y] of data's type: indices.shape[:-1] + data.shape[batchDims+k:]. Negative
 * indices count from the end; one out of range is a {@link dev.tenon.core.error.DataException}. ONNX GatherND-13.
 */
public record GatherNd(int batchDims) implements Primitive {
    public GatherNd {
        if (batchDims < 0) {
            throw new ShapeException("gather_nd: batchDims is " + batchDims + "; expected 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.tuples(mnemonic(), "indices", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape data = inputs.get(0);
        Shape indices = inputs.get(1);
        Rules.rankAtLeast(mnemonic(), "data", data, batchDims + 1);
        Rules.rankAtLeast(mnemonic(), "indices", indices, batchDims + 1);
        Rules.merge(
                mnemonic(), "batch of data", data.range(0, batchDims), "batch of indices", indices.range(0, batchDims));
        return List.of(Scattering.slicesShape(mnemonic(), batchDims, data, indices));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray y = Rules.result(this, inputs);
        int[] slices =
                Scattering.sliceOffsets(mnemonic(), batchDims, inputs.get(0).shape(), inputs.get(1));
        int size = slices.length == 0 ? 0 : y.size() / slices.length;
        for (int i = 0; i < y.size(); i++) {
            y.copy(i, inputs.get(0), slices[i / size] + i % size);
        }
        return List.of(y);
    }
}
