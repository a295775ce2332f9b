package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds elements at both ends of each dim; {@link PadMode} says which. A constant pad also crops, where an amount is
 * negative. In the other modes {@link #cropped} crops first and then copies from what is left.
 *
 * <p>[x, fill? scalar of x's type, 0 when absent] → [y], of x's type. An empty axis can only be padded with a constant.
 * ONNX Pad-21.
 */
public record Pad(PadMode mode, List<Long> before, List<Long> after) implements Primitive {
    public Pad {
        before = List.copyOf(before);
        after = List.copyOf(after);
        if (before.size() != after.size()) {
            throw new ShapeException("pad: amounts before " + before + " and after " + after
                    + " differ in number; expected one of each per axis");
        }
        boolean crops = Stream.concat(before.stream(), after.stream()).anyMatch(amount -> amount < 0);
        if (crops && mode != PadMode.CONSTANT) {
            throw new ShapeException("pad: amounts before " + before + " and after " + after + " crop in the mode "
                    + text(mode) + "; expected a slice first, and amounts of 0 or more");
        }
    }

    private static String text(PadMode mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Pads a value by amounts of which some may be negative: it crops first and then pads what is left.
     *
     * @param fill the constant to pad with; null for 0
     * @throws ShapeException when the amounts do not fit the value
     */
    public static Value cropped(
            OpBuilder g, PadMode mode, Value x, List<Long> before, List<Long> after, @Nullable Value fill) {
        if (mode == PadMode.CONSTANT || before.size() != after.size()) {
            return padded(g, new Pad(mode, before, after), x, fill);
        }
        Pad grown = new Pad(mode, atLeastZero(before), atLeastZero(after));
        List<Integer> cut = IntStream.range(0, before.size())
                .filter(axis -> before.get(axis) < 0 || after.get(axis) < 0)
                .boxed()
                .toList();
        return padded(g, grown, cut.isEmpty() ? x : crop(g, x, before, after, cut), fill);
    }

    private static Value padded(OpBuilder g, Pad pad, Value x, @Nullable Value fill) {
        return fill == null ? g.add(pad, x) : g.add(pad, x, fill);
    }

    private static List<Long> atLeastZero(List<Long> amounts) {
        return amounts.stream().map(amount -> Math.max(0, amount)).toList();
    }

    private static Value crop(OpBuilder g, Value x, List<Long> before, List<Long> after, List<Integer> axes) {
        if (!x.shape().isConcrete()) {
            return g.add(
                    new SliceBy(true, false),
                    x,
                    longs(g, axes, axis -> -Math.clamp(before.get(axis), -Long.MAX_VALUE, 0)),
                    longs(g, axes, axis -> after.get(axis) < 0 ? after.get(axis) : Long.MAX_VALUE),
                    longs(g, axes, axis -> axis));
        }
        Rules.rank("pad", "x", x.shape(), before.size());
        List<Long> starts = new ArrayList<>();
        List<Long> sizes = new ArrayList<>();
        for (int axis = 0; axis < before.size(); axis++) {
            long start = Math.min(0, before.get(axis));
            long end = Math.min(0, after.get(axis));
            long left = SizeMath.sum("pad", x.shape().size(axis), start, end);
            if (left < 0) {
                throw new ShapeException("pad: amounts " + before.get(axis) + " before and " + after.get(axis)
                        + " after crop more than axis " + axis + " of " + x.shape() + " has");
            }
            starts.add(-start);
            sizes.add(left);
        }
        return g.add(new Slice(starts, sizes, Collections.nCopies(sizes.size(), 1L)), x);
    }

    private static Value longs(OpBuilder g, List<Integer> axes, IntToLongFunction value) {
        long[] values =
                axes.stream().mapToInt(Integer::intValue).mapToLong(value).toArray();
        return g.constant(NdArray.ofLongs(values).toConstant());
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
            long added = SizeMath.sum("pad", before.get(axis), after.get(axis));
            boolean grows = before.get(axis) > 0 || after.get(axis) > 0;
            if (dim.isFixed()
                    && (SizeMath.sum("pad", dim.size(), added) < 0
                            || (dim.is(0) && grows && mode != PadMode.CONSTANT))) {
                throw new ShapeException(mnemonic() + ": axis " + axis + " of " + x + " padded ("
                        + text(mode) + ") by "
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
                y.copy(i, x, SizeMath.toInt("pad", from));
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
