package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Axis i of the result is axis permutation[i] of the input. [x] → [y], of x's type. ONNX Transpose-21. */
public record Transpose(List<Integer> permutation) implements Primitive {
    public Transpose {
        permutation = List.copyOf(permutation);
        for (int axis = 0; axis < permutation.size(); axis++) {
            if (!permutation.contains(axis)) {
                throw new ShapeException(
                        "transpose: " + permutation + " is not a permutation; expected axis " + axis + " once");
            }
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(mnemonic(), "x", x, permutation.size());
        if (x.isConcrete()) {
            long[] sizes = new long[permutation.size()];
            Arrays.setAll(sizes, i -> x.size(permutation.get(i)));
            return List.of(Shape.of(sizes));
        }
        return List.of(Shape.of(permutation.stream().map(x::dim).toList()));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        Shape shape = Rules.results(this, inputs).getFirst().shape();
        long[] strides = x.shape().strides();
        return List.of(Indexing.view(
                x,
                shape,
                0,
                permutation.stream().mapToLong(axis -> strides[axis]).toArray()));
    }

    /** The result's axis i is the input's axis {@code permutation[i]}. */
    public static Transpose of(int... permutation) {
        return new Transpose(IntStream.of(permutation).boxed().toList());
    }
}
