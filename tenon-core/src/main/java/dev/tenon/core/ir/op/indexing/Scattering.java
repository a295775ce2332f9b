package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Optional;

/** What gathers and scatters by element or by index tuple share. */
final class Scattering {
    private Scattering() {}

    /** The type of a scatter's result. */
    static DType dtype(String op, ScatterFn fn, List<DType> inputs) {
        DType type = Rules.same(op, List.of(inputs.get(0), inputs.get(2)));
        return Rules.require(op, "data", type, fn.accepts());
    }

    /** That indices by element have data's rank and, but along the axis, stay within it. */
    static void elementsFit(String op, int axis, Shape data, Shape indices) {
        Rules.rank(op, "indices", indices, data.rank());
        for (int i = 0; i < data.rank(); i++) {
            Dim own = indices.dim(i);
            if (i != axis && own.isFixed() && data.dim(i).isFixed() && own.size() > data.size(i)) {
                throw new ShapeException(op + ": indices " + indices + " are larger than data " + data + " along axis "
                        + i + "; expected at most " + data.dim(i) + " there");
            }
        }
    }

    /** For each index by element, where in data it points. */
    static int[] elementOffsets(String op, int axis, Shape data, NdArray indices) {
        long[] strides = data.strides();
        int along = SizeMath.toInt(op, strides[axis]);
        int size = SizeMath.toInt(op, data.size(axis));
        strides[axis] = 0;
        int[] offsets = Indexing.offsets(indices.shape().sizes(), 0, strides);
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] += along * Indexing.wrap(op, indices.getLong(i), size, axis);
        }
        return offsets;
    }

    /** indices.shape[:-1] + data.shape[batch + k:], k the last dim of indices; no rank while k has no number. */
    static Shape slicesShape(String op, int batch, Shape data, Shape indices) {
        Dim tuple = indices.dim(indices.rank() - 1);
        if (!tuple.isFixed()) {
            return Shape.unranked();
        }
        if (tuple.size() > data.rank() - batch) {
            throw new ShapeException(op + ": index tuples of " + tuple + " for data " + data + " with " + batch
                    + " batch dims; expected at most " + (data.rank() - batch));
        }
        return indices.range(0, indices.rank() - 1)
                .concat(data.range(batch + SizeMath.toInt(op, tuple.size()), data.rank()));
    }

    /** For each index tuple, where in data its slice starts. */
    static int[] sliceOffsets(String op, int batch, Shape data, NdArray indices) {
        int last = indices.shape().rank() - 1;
        int tuple = SizeMath.toInt(op, indices.shape().size(last));
        int tuples = SizeMath.toInt(op, indices.shape().elements(0, last));
        int perBatch = SizeMath.toInt(op, indices.shape().elements(batch, last));
        long[] strides = data.strides();
        int batchStride = SizeMath.toInt(op, data.elements(batch, data.rank()));
        int[] offsets = new int[tuples];
        for (int t = 0; t < tuples; t++) {
            offsets[t] = t / perBatch * batchStride;
            for (int i = 0; i < tuple; i++) {
                int axis = batch + i;
                int index =
                        Indexing.wrap(op, indices.getLong(t * tuple + i), SizeMath.toInt(op, data.size(axis)), axis);
                offsets[t] += SizeMath.toInt(op, index, strides[axis]);
            }
        }
        return offsets;
    }

    /** A copy of data into which slices of {@code size} elements of updates are put at the offsets, in order. */
    static NdArray scatter(ScatterFn fn, NdArray data, int[] to, NdArray updates, int size) {
        NdArray y = data.reshaped(data.shape());
        Optional<BinaryFn> combines = fn.combines();
        for (int i = 0; i < updates.size(); i++) {
            int at = to[i / size] + i % size;
            if (combines.isEmpty()) {
                y.copy(at, updates, i);
            } else if (y.dtype().isFloat()) {
                y.set(at, combine(combines.get(), y.dtype().accumulator(), y.get(at), updates.get(i)));
            } else {
                y.set(at, combines.get().apply(y.dtype(), y.getLong(at), updates.getLong(i)));
            }
        }
        return y;
    }

    private static double combine(BinaryFn fn, DType accumulator, double a, double b) {
        return Elements.toDouble(accumulator, Elements.fromDouble(accumulator, fn.apply(a, b)));
    }
}
