package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The whole repeated along each axis. [x] → [y], of x's type, each dim times its number of repeats (0 or more). ONNX
 * Tile-13.
 */
public record Tile(List<Long> repeats) implements Composite {
    public Tile {
        repeats = List.copyOf(repeats);
        if (repeats.stream().anyMatch(repeat -> repeat < 0)) {
            throw new ShapeException("tile: repeats " + repeats + " have a negative one; expected 0 or more");
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
        Rules.rank(mnemonic(), "x", x, repeats.size());
        Dim[] dims = new Dim[x.rank()];
        for (int axis = 0; axis < dims.length; axis++) {
            dims[axis] = x.dim(axis).times(Dim.of(repeats.get(axis)));
        }
        return List.of(Shape.of(dims));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value x = inputs.getFirst();
        int rank = repeats.size();
        long[] apart = new long[2 * rank];
        long[] wide = new long[2 * rank];
        long[] sizes = new long[rank];
        for (int axis = 0; axis < rank; axis++) {
            long size = x.shape().size(axis);
            apart[2 * axis] = 1;
            wide[2 * axis] = repeats.get(axis);
            apart[2 * axis + 1] = size;
            wide[2 * axis + 1] = size;
            sizes[axis] = size * repeats.get(axis);
        }
        return List.of(g.add(Reshape.to(sizes), g.add(Expand.to(wide), g.add(Reshape.to(apart), x))));
    }
}
