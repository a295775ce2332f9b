package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Convolutions and poolings. */
final class ConvolutionMapping {
    private ConvolutionMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "Conv" -> List.of(conv(n));
            case "ConvInteger" -> List.of(convInteger(n, n.in(0), n.in(1), 2));
            case "ConvTranspose" -> List.of(convTranspose(n));
            case "MaxPool" -> maxPool(n);
            case "AveragePool" -> List.of(averagePool(n));
            case "LpPool" -> List.of(pool(n, PoolFn.LP, false, lp(n), 0));
            case "GlobalAveragePool" -> List.of(global(n, ReduceFn.MEAN));
            case "GlobalMaxPool" -> List.of(global(n, ReduceFn.MAX));
            case "GlobalLpPool" -> List.of(globalLp(n));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    /** The sizes of the window: given, or those of the weight's spatial dims. */
    private static List<Long> kernel(NodeContext n, Value weight) {
        List<Long> given = n.attrInts("kernel_shape");
        if (!given.isEmpty()) {
            return given;
        }
        Shape spatial = weight.shape().range(2, n.rank(weight));
        if (!spatial.isConcrete()) {
            throw n.error("without kernel_shape the weight's shape must be known, is " + weight.shape());
        }
        return IntStream.range(0, spatial.rank()).mapToObj(spatial::size).toList();
    }

    private static Value conv(NodeContext n) {
        Window.Over over = Window.of(n, n.in(0), kernel(n, n.in(1)), 0);
        Window w = over.window();
        Epilogue epilogue = n.has(2) ? Epilogue.NONE.withBias() : Epilogue.NONE;
        Conv op = new Conv(w.strides(), w.before(), w.after(), w.dilations(), n.attrInt("group", 1), epilogue);
        return n.has(2) ? n.add(op, over.x(), n.in(1), n.in(2)) : n.add(op, over.x(), n.in(1));
    }

    /** @param zeroPoints the index of the input's zero point; the weight's stands {@code zeroPoints + 1} */
    private static Value convInteger(NodeContext n, Value x, Value weight, int zeroPoints) {
        return convInteger(
                n,
                x,
                weight,
                n.has(zeroPoints) ? List.of(n.in(zeroPoints)) : List.of(),
                n.has(zeroPoints + 1) ? List.of(n.in(zeroPoints + 1)) : List.of());
    }

    /** @param zeroPointX empty or one value; so is {@code zeroPointW} */
    static Value convInteger(NodeContext n, Value x, Value weight, List<Value> zeroPointX, List<Value> zeroPointW) {
        Window.Over over = Window.of(n, x, kernel(n, weight), 0);
        if (over.x() != x) {
            throw n.error("auto_pad needs the input's size, which is not known before it runs: " + x.shape());
        }
        Window w = over.window();
        List<Value> operands = new ArrayList<>(List.of(x, weight));
        operands.addAll(zeroPointX);
        operands.addAll(zeroPointW);
        ConvInteger op = new ConvInteger(
                w.strides(),
                w.before(),
                w.after(),
                w.dilations(),
                n.attrInt("group", 1),
                !zeroPointX.isEmpty(),
                !zeroPointW.isEmpty());
        return n.addAll(op, operands).getFirst();
    }

    private static Value convTranspose(NodeContext n) {
        List<Long> kernel = kernel(n, n.in(1));
        int dims = kernel.size();
        List<Long> zeros = java.util.Collections.nCopies(dims, 0L);
        List<Long> strides = Window.bounded(n, "strides", dims, 1);
        Window w = new Window(
                Window.bounded(n, "kernel_shape", kernel, 1),
                strides,
                Window.bounded(n, "dilations", dims, 1),
                zeros,
                zeros);
        List<Long> extra = new ArrayList<>(Window.bounded(n, "output_padding", dims, 0));
        List<Long> shape = Window.bounded(n, "output_shape", n.attrInts("output_shape"), 0);
        String auto = n.attrString("auto_pad", "NOTSET");
        if (!shape.isEmpty() || auto.startsWith("SAME")) {
            List<Long> before = new ArrayList<>();
            List<Long> after = new ArrayList<>();
            for (int i = 0; i < dims; i++) {
                // without an output shape it is the input's times the stride, whatever that is
                long total = extra.get(i)
                        + w.extent(i)
                        - (shape.isEmpty() ? strides.get(i) : remainder(n, shape, i, dims, strides.get(i)));
                if (total < 0) {
                    extra.set(i, extra.get(i) - total);
                    total = 0;
                }
                boolean upper = auto.equals("SAME_UPPER");
                before.add(upper ? total / 2 : total - total / 2);
                after.add(upper ? total - total / 2 : total / 2);
            }
            w = w.padded(before, after);
        } else if (!auto.equals("VALID")) {
            List<Long> pads = Window.bounded(n, "pads", 2 * dims, 0);
            w = w.padded(pads.subList(0, dims), pads.subList(dims, 2 * dims));
        }
        Epilogue epilogue = n.has(2) ? Epilogue.NONE.withBias() : Epilogue.NONE;
        ConvTranspose op = new ConvTranspose(
                strides, w.before(), w.after(), w.dilations(), extra, n.attrInt("group", 1), epilogue);
        return n.has(2) ? n.add(op, n.in(0), n.in(1), n.in(2)) : n.add(op, n.in(0), n.in(1));
    }

    /** What the wanted size has beyond stride * (input - 1). */
    private static long remainder(NodeContext n, List<Long> shape, int dim, int dims, long stride) {
        if (shape.size() < dims) {
            throw n.error("output_shape " + shape + " should be " + dims + " numbers");
        }
        dev.tenon.core.ir.Dim in =
                n.in(0).shape().isRanked() ? n.in(0).shape().dim(dim + 2) : dev.tenon.core.ir.Dim.unknown();
        if (!in.isFixed()) {
            throw n.error("output_shape needs the input's size, which is not known before it runs: "
                    + n.in(0).shape());
        }
        return SizeMath.sum(
                "output_shape",
                shape.get(shape.size() - dims + dim),
                -SizeMath.product("output_shape", stride, in.size() - 1));
    }

    private static List<Long> poolKernel(NodeContext n) {
        List<Long> kernel = n.attrInts("kernel_shape");
        if (kernel.isEmpty()) {
            throw n.error("the attribute \"kernel_shape\" is missing");
        }
        return kernel;
    }

    private static List<Value> maxPool(NodeContext n) {
        double lowest = n.in(0).dtype().isFloat() ? Double.NEGATIVE_INFINITY : -0x1p63;
        if (n.results() < 2) {
            return List.of(pool(n, PoolFn.MAX, false, 0, lowest));
        }
        Window.Over over = Window.of(n, n.in(0), poolKernel(n), lowest);
        if (over.x() != n.in(0)) {
            throw n.error("indices with auto_pad need the input's size, which is not known before it runs");
        }
        Window w = over.window();
        return n.addAll(
                new MaxPoolIndices(
                        w.kernel(),
                        w.strides(),
                        w.before(),
                        w.after(),
                        w.dilations(),
                        n.attrFlag("ceil_mode", false),
                        n.attrFlag("storage_order", false)),
                List.of(over.x()));
    }

    private static Value averagePool(NodeContext n) {
        boolean countPadding = n.attrFlag("count_include_pad", false);
        Value pooled = pool(n, PoolFn.AVERAGE, countPadding, 0, 0);
        return pooled;
    }

    private static Value pool(NodeContext n, PoolFn fn, boolean countPadding, long p, double fill) {
        Window.Over over = Window.of(n, n.in(0), poolKernel(n), fill);
        if (over.x() != n.in(0) && fn == PoolFn.AVERAGE && !countPadding) {
            throw n.error("auto_pad needs the input's size, which is not known before it runs: "
                    + n.in(0).shape());
        }
        Window w = over.window();
        return n.add(
                new Pool(
                        fn,
                        w.kernel(),
                        w.strides(),
                        w.before(),
                        w.after(),
                        w.dilations(),
                        n.attrFlag("ceil_mode", false),
                        countPadding,
                        p),
                over.x());
    }

    /** The order of the norm, a float before opset 2. */
    private static long lp(NodeContext n) {
        return n.since(2) ? n.attrInt("p", 2) : (long) n.attrFloat("p", 2);
    }

    private static Value global(NodeContext n, ReduceFn fn) {
        Value x = n.in(0);
        return n.add(new Reduce(fn, IntStream.range(2, n.rank(x)).boxed().toList(), true), x);
    }

    private static Value globalLp(NodeContext n) {
        long p = lp(n);
        if (p == 1 || p == 2) {
            return global(n, p == 1 ? ReduceFn.L1 : ReduceFn.L2);
        }
        Value x = n.in(0);
        Value power = n.binary(BinaryFn.POW, n.unary(UnaryFn.ABS, x), n.scalar(x.dtype(), (double) p));
        Value sum = n.add(
                new Reduce(ReduceFn.SUM, IntStream.range(2, n.rank(x)).boxed().toList(), true), power);
        return n.binary(BinaryFn.POW, sum, n.scalar(x.dtype(), 1.0 / p));
    }
}
