package dev.tenon.cli.bench;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.cuda.check.StepBench.Operand;
import java.util.ArrayList;
import java.util.List;

/** Single convolutions to time; {@code bench/peers/vision_torch.py convolutions} has the same under the same names. */
final class ConvBenches {
    /** Batch, channels, side, outputs, kernel, stride. */
    private static final long[][] FORMS = {
        {1, 64, 224, 64, 3, 1},
        {32, 64, 56, 64, 3, 1},
        {32, 256, 56, 64, 1, 1},
        {32, 256, 14, 256, 3, 1},
        {8, 512, 28, 512, 3, 2},
        {1, 3, 640, 32, 3, 2}
    };

    private ConvBenches() {}

    /** Halves and floats with channels last, floats with channels first. */
    static List<OpBenches> all() {
        List<OpBenches> all = new ArrayList<>();
        for (long[] form : FORMS) {
            all.add(bench(form, DType.F16, true));
            all.add(bench(form, DType.F32, false));
            all.add(bench(form, DType.F32, true));
        }
        return all;
    }

    private static OpBenches bench(long[] form, DType dtype, boolean last) {
        long batch = form[0];
        long channels = form[1];
        long side = form[2];
        long outputs = form[3];
        long kernel = form[4];
        long stride = form[5];
        long pad = kernel / 2;
        Conv conv = new Conv(
                List.of(stride, stride), List.of(pad, pad), List.of(pad, pad), List.of(1L, 1L), 1, Epilogue.NONE);
        Op op = last ? new ChannelsLastConv(conv) : conv;
        Operand x = last
                ? Operand.normal(dtype, batch, side, side, channels)
                : Operand.normal(dtype, batch, channels, side, side);
        Operand w = last
                ? Operand.normal(dtype, outputs, kernel, kernel, channels)
                : Operand.normal(dtype, outputs, channels, kernel, kernel);
        String name = "conv " + batch + " " + channels + " " + side + " " + outputs + " " + kernel + " " + stride + " "
                + (dtype == DType.F16 ? "f16" : "TF32") + (last ? " NHWC" : " NCHW");
        return new OpBenches(name, op, List.of(x, w.asWeight()), AdditionOrder.FIXED, 1);
    }
}
