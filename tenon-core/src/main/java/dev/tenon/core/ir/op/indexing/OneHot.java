package dev.tenon.core.ir.op.indexing;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * A new axis of {@code depth}: values[1] at the index, values[0] elsewhere; a negative index counts from the end, one
 * out of [-depth, depth) gives all values[0].
 *
 * <p>[indices i32 or i64, values [2]] → [y]: the indices' shape with the axis put in, the values' type. The axis is
 * that of the result. ONNX OneHot-11.
 */
public record OneHot(long depth, int axis) implements Primitive {
    public OneHot {
        Rules.fromFront("one_hot", axis);
        if (depth < 0) {
            throw new ShapeException("one_hot: depth is " + depth + "; expected 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.indices(mnemonic(), inputs.getFirst());
        return List.of(inputs.get(1));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(shape(mnemonic(), inputs.getFirst(), inputs.get(1), axis, Dim.of(depth)));
    }

    static Shape shape(String op, Shape indices, Shape values, int axis, Dim depth) {
        if (values.rank() != 1 || !values.dim(0).mayEqual(Dim.of(2))) {
            throw new ShapeException(op + ": values " + values + "; expected [2], the one for off and the one for on");
        }
        List<Dim> dims = new ArrayList<>(indices.dims());
        if (axis > dims.size()) {
            throw new ShapeException(op + ": axis " + axis + " is out of range for indices " + indices
                    + "; expected 0 to " + dims.size());
        }
        dims.add(axis, depth);
        return Shape.of(dims);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray indices = inputs.get(0);
        NdArray values = inputs.get(1);
        NdArray y = Rules.result(this, inputs);
        Indexing.forEachLane(y.shape(), axis, (base, stride) -> {
            int lane = base / SizeMath.toInt("one_hot", depth, stride) * stride + base % stride;
            long index = indices.getLong(lane);
            long hot = index < 0 ? index + depth : index;
            for (int i = 0; i < depth; i++) {
                y.copy(base + i * stride, values, i == hot ? 1 : 0);
            }
        });
        return List.of(y);
    }
}
