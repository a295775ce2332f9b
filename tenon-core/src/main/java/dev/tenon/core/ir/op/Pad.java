package dev.tenon.core.ir.op;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import java.util.List;
import java.util.Locale;

/**
 * Adds (or, where negative, crops) elements at both ends of each dim; {@link PadMode} says what is added, seen from the whole input, crops or not.
 *
 * <p>[x, fill? scalar of x's type, 0 when absent] → [y], of x's type. An empty axis can only be padded with a constant. ONNX Pad-21.
 */
public record Pad(PadMode mode, List<Long> before, List<Long> after) implements Primitive {
    public Pad {
        before = List.copyOf(before);
        after = List.copyOf(after);
        if (before.size() != after.size()) {
            throw new ShapeException("pad: amounts before " + before + " and after " + after
                    + " differ in number; expected one each an axis");
        }
    }

    @Override
    public Arity arity() {
        return new Arity(1, 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.same(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(mnemonic(), "x", x, before.size());
        if (inputs.size() > 1) {
            Rules.single(mnemonic(), "fill", inputs.get(1));
        }
        Dim[] dims = new Dim[x.rank()];
        for (int axis = 0; axis < dims.length; axis++) {
            Dim dim = x.dim(axis);
            long added = Math.addExact(before.get(axis), after.get(axis));
            boolean grows = before.get(axis) > 0 || after.get(axis) > 0;
            if (dim.isFixed() && (dim.size() + added < 0 || (dim.is(0) && grows && mode != PadMode.CONSTANT))) {
                throw new ShapeException(mnemonic() + ": axis " + axis + " of " + x + " padded ("
                        + mode.name().toLowerCase(Locale.ROOT) + ") by "
                        + before.get(axis) + " before and " + after.get(axis)
                        + " after; expected an axis long enough to crop, and not empty to copy from");
            }
            dims[axis] = added == 0 ? dim : dim.isFixed() ? Dim.of(dim.size() + added) : Dim.unknown();
        }
        return List.of(Shape.of(dims));
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray x = inputs.getFirst();
        NdArray y = Rules.result(this, inputs);
        long[] sizes = y.shape().sizes();
        long[] strides = x.shape().strides();
        long[] index = new long[sizes.length];
        for (int i = 0; i < y.size(); i++) {
            long from = 0;
            for (int axis = 0; axis < sizes.length && from >= 0; axis++) {
                long source = source(index[axis] - before.get(axis), x.shape().size(axis));
                from = source < 0 ? -1 : from + source * strides[axis];
            }
            if (from >= 0) {
                y.copy(i, x, Math.toIntExact(from));
            } else if (inputs.size() > 1) {
                y.copy(i, inputs.get(1), 0);
            }
            for (int axis = sizes.length - 1; axis >= 0 && ++index[axis] == sizes[axis]; axis--) {
                index[axis] = 0;
            }
        }
        return List.of(y);
    }

    /** The index within an axis that an index outside of it stands for; -1 for the fill. */
    private long source(long index, long size) {
        return switch (mode) {
            case CONSTANT -> index >= 0 && index < size ? index : -1;
            case EDGE -> Math.clamp(index, 0, size - 1);
            case WRAP -> Math.floorMod(index, size);
            case REFLECT -> {
                long period = Math.max(1, 2 * (size - 1));
                long folded = Math.floorMod(index, period);
                yield Math.min(folded, period - folded) % Math.max(1, size);
            }
        };
    }
}
