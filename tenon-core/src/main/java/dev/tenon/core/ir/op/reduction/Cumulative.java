package dev.tenon.core.ir.op.reduction;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.reference.Indexing;
import dev.tenon.core.ir.reference.Summation;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Running sum or product along an axis, in the value's own type (sums of short floats kept in f32 on the way).
 *
 * <p>[x] → [y], of x's type; any number type, integers wrapping. {@code exclusive} leaves the element itself out, so
 * the first is 0 (or 1); {@code reverse} runs from the end. ONNX CumSum-14.
 */
public record Cumulative(CumulativeFn fn, int axis, boolean exclusive, boolean reverse) implements Primitive {
    public Cumulative {
        Rules.fromFront("cumulative", axis);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameNumeric(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.axis(mnemonic(), axis, inputs.getFirst());
        return inputs;
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        int size = SizeMath.toInt("cumulative", x.shape().size(axis));
        Indexing.forEachLane(x.shape(), axis, (base, stride) -> {
            int first = reverse ? base + (size - 1) * stride : base;
            int step = reverse ? -stride : stride;
            if (x.dtype().isFloat()) {
                floats(x, y, first, step, size);
            } else {
                integers(x, y, first, step, size);
            }
        });
        return List.of(y);
    }

    /** Sums are compensated, products plain. */
    private void floats(NdArray x, NdArray y, int first, int step, int size) {
        Summation.Running sum = new Summation.Running();
        double product = fn.identity();
        for (int i = 0; i < size; i++) {
            int at = first + i * step;
            double before = fn == CumulativeFn.SUM ? sum.value() : product;
            sum.add(x.get(at));
            product = fn.join().apply(product, x.get(at));
            y.set(at, exclusive ? before : fn == CumulativeFn.SUM ? sum.value() : product);
        }
    }

    private void integers(NdArray x, NdArray y, int first, int step, int size) {
        long total = fn.identity();
        for (int i = 0; i < size; i++) {
            int at = first + i * step;
            long next = fn.join().apply(x.dtype(), total, x.getLong(at));
            y.set(at, exclusive ? total : next);
            total = next;
        }
    }
}
