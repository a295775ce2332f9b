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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Consecutive pieces of those sizes along an axis, which they use up. [x] → one result a size, of x's type. ONNX
 * Split-18.
 */
public record Split(int axis, List<Long> sizes) implements Composite {
    public Split {
        sizes = List.copyOf(sizes);
        Rules.fromFront("split", axis);
        if (sizes.isEmpty() || sizes.stream().anyMatch(size -> size < 0)) {
            throw new ShapeException("split: sizes are " + sizes + "; expected one or more, each 0 or more");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return Collections.nCopies(sizes.size(), inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.axis(mnemonic(), axis, x);
        long sum = sizes.stream().reduce(0L, Math::addExact);
        if (!x.dim(axis).mayEqual(Dim.of(sum))) {
            throw new ShapeException(mnemonic() + ": sizes " + sizes + " sum up to " + sum + " for axis " + axis
                    + " of " + x + "; expected " + x.dim(axis));
        }
        return sizes.stream().map(size -> x.with(axis, Dim.of(size))).toList();
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        List<Value> pieces = new ArrayList<>();
        long from = 0;
        for (long size : sizes) {
            pieces.add(g.add(Slice.along(inputs.getFirst().shape(), axis, from, from + size), inputs.getFirst()));
            from += size;
        }
        return pieces;
    }
}
