package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Numpy broadcast of the input to exactly these sizes. [x] → [y], of x's type: each of x's dims, from the back, equals
 * the size there or is 1.
 */
public record Expand(List<Long> sizes) implements Primitive {
    public Expand {
        sizes = List.copyOf(sizes);
        if (sizes.stream().anyMatch(size -> size < 0)) {
            throw new ShapeException("expand: sizes " + sizes + " have a negative one; expected 0 or more");
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
        Shape y = Shape.ofSizes(sizes);
        Rules.broadcastsTo(mnemonic(), "x", inputs.getFirst(), y);
        return List.of(y);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        return List.of(Indexing.broadcast(
                inputs.getFirst(), Rules.results(this, inputs).getFirst().shape()));
    }

    /** To those sizes. */
    public static Expand to(long... sizes) {
        return new Expand(LongStream.of(sizes).boxed().toList());
    }
}
