package dev.tenon.core.build;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;

/**
 * Adds reads and writes at places that values tell. Indices are i32 or i64 (of {@code gatherNd} and {@code scatterNd}
 * i64), negative ones count from the back; one out of range is a {@link dev.tenon.core.error.DataException} of the run.
 */
public interface IndexingOps extends OpBuilder {
    /**
     * Adds slices of an axis: {@code data.shape[:axis] + indices.shape + data.shape[axis+1:]}. An embedding's lookup
     * has axis 0.
     */
    default Value gather(Value data, Value indices, int axis) {
        Words.operands("gather", "data indices", data, indices);
        return add(new Gather(Words.axis("gather", data, axis)), data, indices);
    }

    /**
     * Adds one element for each index, which replaces the element's own place along the axis: PyTorch's gather. The
     * result has the indices' shape.
     */
    default Value gatherElements(Value data, Value indices, int axis) {
        Words.operands("gather_elements", "data indices", data, indices);
        return add(new GatherElements(Words.axis("gather_elements", data, axis)), data, indices);
    }

    /**
     * Adds what each tuple in the indices' last axis points at: {@code indices.shape[:-1] + data.shape[k:]} for tuples
     * of k.
     */
    default Value gatherNd(Value data, Value indices) {
        return add(new GatherNd(0), Words.operands("gather_nd", "data indices", data, indices));
    }

    /** Adds data with updates in the place of the elements that the indices name along an axis: PyTorch's scatter. */
    default Value scatterElements(Value data, Value indices, Value updates, int axis) {
        return scatterElements(data, indices, updates, axis, ScatterFn.REPLACE);
    }

    /** Adds data with updates combined into the elements that the indices name along an axis, in index order. */
    default Value scatterElements(Value data, Value indices, Value updates, int axis, ScatterFn fn) {
        Words.operands("scatter_elements", "data indices updates", data, indices, updates);
        Words.option("scatter_elements", "fn", fn);
        return add(new ScatterElements(Words.axis("scatter_elements", data, axis), fn), data, indices, updates);
    }

    /** Adds data with updates in the place of what each tuple in the indices' last axis points at. */
    default Value scatterNd(Value data, Value indices, Value updates) {
        return scatterNd(data, indices, updates, ScatterFn.REPLACE);
    }

    /** Adds data with updates combined into what each tuple in the indices' last axis points at, in index order. */
    default Value scatterNd(Value data, Value indices, Value updates, ScatterFn fn) {
        Words.option("scatter_nd", "fn", fn);
        return add(new ScatterNd(fn), Words.operands("scatter_nd", "data indices updates", data, indices, updates));
    }

    /**
     * Adds an axis with 1 at the index and 0 elsewhere; an index out of range gives zeros.
     *
     * @param axis its place in the result; -1 for the last
     */
    default Value oneHot(Value indices, long depth, int axis, DType dtype) {
        Words.operand("one_hot", "indices", indices);
        Words.option("one_hot", "dtype", dtype);
        int along = Words.axis("one_hot", axis, indices, Words.rank("one_hot", indices) + 1);
        ConstantData offAndOn = dtype.isFloat()
                ? NdArray.of(TensorType.of(dtype, 2), 0.0, 1.0).toConstant()
                : NdArray.of(TensorType.of(dtype, 2), 0L, 1L).toConstant();
        return add(Words.named("one_hot", () -> new OneHot(depth, along)), indices, constant(offAndOn));
    }
}
