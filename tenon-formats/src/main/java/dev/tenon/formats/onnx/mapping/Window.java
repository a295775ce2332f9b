package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.PadBy;
import dev.tenon.core.ir.op.movement.PadMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The window of a convolution or a pooling over the spatial dims (all but the first two), its padding made explicit.
 */
record Window(List<Long> kernel, List<Long> strides, List<Long> dilations, List<Long> before, List<Long> after) {
    private enum AutoPad {
        NOTSET,
        VALID,
        SAME_UPPER,
        SAME_LOWER
    }

    /** A window and what it goes over: the input itself, or the input padded by amounts that depend on its size. */
    record Over(Value x, Window window) {}

    /**
     * The window that the node's attributes describe, over its input. {@code fill} is what padding stands for, should
     * it have to be written out.
     */
    static Over of(NodeContext n, Value x, List<Long> kernel, double fill) {
        int dims = kernel.size();
        bounded(n, "kernel_shape", kernel, 1);
        Window window = new Window(
                kernel,
                bounded(n, "strides", dims, 1),
                bounded(n, "dilations", dims, 1),
                Collections.nCopies(dims, 0L),
                Collections.nCopies(dims, 0L));
        AutoPad auto = autoPad(n);
        return switch (auto) {
            case VALID -> new Over(x, window);
            case NOTSET -> {
                List<Long> pads = bounded(n, "pads", 2 * dims, 0);
                yield new Over(x, window.padded(pads.subList(0, dims), pads.subList(dims, 2 * dims)));
            }
            case SAME_UPPER, SAME_LOWER -> same(n, x, window, auto == AutoPad.SAME_UPPER, fill);
        };
    }

    private static AutoPad autoPad(NodeContext n) {
        String mode = n.attrString("auto_pad", "NOTSET");
        for (AutoPad auto : AutoPad.values()) {
            if (auto.name().equals(mode)) {
                return auto;
            }
        }
        throw n.error("auto_pad \"" + mode + "\" is not known");
    }

    /** Refuses numbers that no window has, so that arithmetic on those that it has fits 64 bits. */
    static List<Long> bounded(NodeContext n, String name, List<Long> values, long least) {
        if (values.stream().anyMatch(value -> value < least || value > Integer.MAX_VALUE)) {
            throw n.error(name + " is " + values + "; expected " + least + " to " + Integer.MAX_VALUE + " each");
        }
        return values;
    }

    /**
     * An attribute with a number for each spatial dim: from the value that stands for it where it is absent to 2^31 -
     * 1.
     */
    static List<Long> bounded(NodeContext n, String name, int size, long absent) {
        return bounded(n, name, list(n, name, size, absent), absent);
    }

    /** An attribute with as many numbers as asked for. */
    static List<Long> list(NodeContext n, String name, int size, long absent) {
        List<Long> given = n.attrInts(name);
        if (given.isEmpty()) {
            return Collections.nCopies(size, absent);
        }
        if (given.size() != size) {
            throw n.error(name + " " + given + " should be " + size + " numbers");
        }
        return given;
    }

    Window padded(List<Long> newBefore, List<Long> newAfter) {
        return new Window(kernel, strides, dilations, newBefore, newAfter);
    }

    /** How far the window reaches along a spatial dim. */
    long extent(int dim) {
        return (kernel.get(dim) - 1) * dilations.get(dim) + 1;
    }

    /** As much padding as makes the result ceil(input / stride) long. */
    private static Over same(NodeContext n, Value x, Window window, boolean upper, double fill) {
        List<Long> before = new ArrayList<>();
        List<Long> after = new ArrayList<>();
        for (int i = 0; i < window.kernel.size(); i++) {
            Dim dim = x.shape().isRanked() ? x.shape().dim(i + 2) : Dim.unknown();
            long stride = window.strides.get(i);
            long extent = window.extent(i);
            if (!dim.isFixed() && stride != 1) {
                return deferred(n, x, window, upper, fill);
            }
            long total = stride == 1
                    ? extent - 1
                    : Math.max(0, (Math.ceilDiv(dim.size(), stride) - 1) * stride - dim.size() + extent);
            long less = total / 2;
            before.add(upper ? less : total - less);
            after.add(upper ? total - less : less);
        }
        return new Over(x, window.padded(before, after));
    }

    /** The same with sizes that are known only when it runs: an explicit padding by amounts computed from the shape. */
    private static Over deferred(NodeContext n, Value x, Window window, boolean upper, double fill) {
        int dims = window.kernel.size();
        List<Long> extents = new ArrayList<>();
        for (int i = 0; i < dims; i++) {
            extents.add(window.extent(i));
        }
        Value sizes = n.add(new ShapeOf(2, Long.MAX_VALUE), x);
        Value strides = n.longs(window.strides);
        Value one = n.longs(1);
        Value steps = n.div(n.add(sizes, n.sub(strides, one)), strides);
        Value reach = n.add(n.mul(n.sub(steps, one), strides), n.longs(extents));
        Value total = n.binary(BinaryFn.MAX, n.sub(reach, sizes), n.longs(0));
        Value less = n.div(total, n.longs(2));
        Value more = n.sub(total, less);
        Value none = n.longs(0, 0);
        Value pads = n.concat(List.of(none, upper ? less : more, none, upper ? more : less), 0);
        Value padded = n.addTyped(
                new PadBy(PadMode.CONSTANT, true, false),
                new dev.tenon.core.ir.TensorType(x.dtype(), unknownSpatial(x.shape())),
                x,
                pads,
                n.scalar(x.dtype(), fill));
        return new Over(padded, window);
    }

    private static Shape unknownSpatial(Shape shape) {
        return shape.isRanked() ? shape.range(0, 2).concat(Shape.unknown(shape.rank() - 2)) : shape;
    }
}
