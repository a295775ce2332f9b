package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;

/** Convolution of bytes, in its plain form. */
public final class GpuConvIntegerLowering {
    private static final int MOST_DIMS = 8;

    private GpuConvIntegerLowering() {}

    /** The step of a convolution of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(ConvInteger op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        int dims = x.rank() - 2;
        if (dims > MOST_DIMS) {
            return new NoKernel("kernels convolve at most " + MOST_DIMS + " spatial dims; x is " + x);
        }
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.CONV_INTEGER, "conv_integer", KernelCatalog.BYTES),
                        Grids.of(y.elements()))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)));
        if (op.zeroPointX()) {
            launch.value(context.slot(node.input(2)));
        } else {
            launch.none();
        }
        if (op.zeroPointW()) {
            launch.value(context.slot(node.inputs().getLast()));
        } else {
            launch.none();
        }
        return LaunchStep.of(
                "conv_integer, a thread a result",
                launch.value(context.slot(node.output()))
                        .struct(space(op, node))
                        .build());
    }

    /** The struct ConvSpace of conv_integer.cu. */
    private static long[] space(ConvInteger op, Node node) {
        Shape x = node.input(0).shape();
        Value weights = node.input(1);
        Shape w = weights.shape();
        Shape y = node.output().shape();
        int dims = x.rank() - 2;
        long[] words = new long[5 + 6 * MOST_DIMS + 3];
        words[0] = dims;
        words[1] = y.elements();
        words[2] = w.size(0);
        words[3] = w.size(1);
        words[4] = w.size(0) / op.groups();
        for (int axis = 0; axis < dims; axis++) {
            long[] values = {
                x.size(axis + 2),
                y.size(axis + 2),
                w.size(axis + 2),
                op.strides().get(axis),
                op.padsBefore().get(axis),
                op.dilations().get(axis)
            };
            for (int field = 0; field < values.length; field++) {
                words[5 + field * MOST_DIMS + axis] = values[field];
            }
        }
        int flags = words.length - 3;
        words[flags] = node.input(0).dtype() == DType.I8 ? 1 : 0;
        words[flags + 1] = weights.dtype() == DType.I8 ? 1 : 0;
        words[flags + 2] = op.zeroPointW() ? node.inputs().getLast().shape().elements() : 0;
        return words;
    }
}
