package dev.tenon.cuda.lower.state;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.core.ir.op.state.SelectiveScan;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;

/** Linear recurrences whose states stay in registers: one launch along the sequence. Thread-safe. */
public final class GpuScanLowering {
    private static final int WARP = 32;

    /** States of a channel that a lane is given while there are lanes, and the most that it takes. */
    private static final int STATES = 4;

    private static final int MOST_STATES = 8;

    /** Elements of a column that a lane is given while there are lanes, and the most that it takes. */
    private static final int ELEMENTS = 16;

    private GpuScanLowering() {}

    /** The fewest lanes, a power of two, with which each has at most so many. */
    private static int lanes(long size, int each) {
        int lanes = 1;
        while (lanes < WARP && (long) lanes * each < size) {
            lanes *= 2;
        }
        return lanes;
    }

    /** One launch, some lanes a channel. */
    public static Lowered lower(SelectiveScan op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        long states = node.input(2).shape().size(1);
        long units = SizeMath.product(op.mnemonic(), x.size(0), x.size(2));
        if (units == 0) {
            return new NoWork(op.mnemonic());
        }
        if (states > (long) WARP * MOST_STATES) {
            return new NoKernel(
                    "selective_scan takes at most " + WARP * MOST_STATES + " states a channel, not " + states);
        }
        int lanes = lanes(states, STATES);
        DType dtype = node.output().dtype();
        Kernel kernel =
                context.kernels().kernel(StateCatalog.SELECTIVE_SCAN, "selective_scan", KernelVariant.of(dtype));
        PreparedLaunch.Builder call =
                PreparedLaunch.of(kernel, Grids.of(SizeMath.product(op.mnemonic(), units, lanes)));
        for (int i = 0; i < 5; i++) {
            call.value(context.slot(node.input(i)));
        }
        int next = 5;
        call.value(op.skip() ? context.slot(node.input(next++)) : -1)
                .value(op.initial() ? context.slot(node.input(next)) : -1)
                .value(context.slot(node.outputs().get(0)))
                .value(context.slot(node.outputs().get(1)))
                .addAll(x.size(0), x.size(1), x.size(2), states)
                .add(lanes);
        return LaunchStep.of("selective_scan, " + lanes + " lanes a channel", call.build());
    }

    /** One launch, some lanes a column of a state. */
    public static Lowered lower(GatedDeltaNet op, Node node, GpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape k = node.input(1).shape();
        long columns = node.input(2).shape().size(3);
        long size = k.size(3);
        long heads = k.elements(0, 2);
        long units = SizeMath.product(op.mnemonic(), heads, columns);
        if (units == 0) {
            return new NoWork(op.mnemonic());
        }
        if (size > (long) WARP * ELEMENTS) {
            return new NoKernel("gated_delta_net takes keys of at most " + WARP * ELEMENTS + " elements, not " + size);
        }
        int lanes = lanes(size, ELEMENTS);
        DType dtype = node.output().dtype();
        double scale = Double.isNaN(op.scale()) ? 1 / Math.sqrt((double) size) : op.scale();
        Kernel kernel =
                context.kernels().kernel(StateCatalog.GATED_DELTA_NET, "gated_delta_net", KernelVariant.of(dtype));
        int next = 3;
        int decay = op.decay() ? next++ : -1;
        int beta = op.delta() ? next++ : -1;
        int initial = op.initial() ? next : -1;
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(SizeMath.product(op.mnemonic(), units, lanes)))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(slot(node, decay, context))
                .value(slot(node, beta, context))
                .value(slot(node, initial, context))
                .value(context.slot(node.outputs().get(0)))
                .value(context.slot(node.outputs().get(1)))
                .addAll(heads, q.size(1) / k.size(1), k.size(2), size, columns)
                .add(decay < 0 ? 1L : node.input(decay).shape().size(3))
                .compute(dtype, scale)
                .add(lanes)
                .build();
        return LaunchStep.of("gated_delta_net, " + lanes + " lanes a column", call);
    }

    private static int slot(Node node, int input, GpuLoweringContext context) {
        return input < 0 ? -1 : context.slot(node.input(input));
    }
}
