package dev.tenon.cuda.dnn;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.tuning.Tunable;
import java.util.ArrayList;
import java.util.List;

/**
 * A convolution as cuDNN is asked about it. Sizes have the order batch, channels, then the spatial dims, however the
 * elements lie.
 *
 * @param dtype f32, f16 or bf16, of all operands; sums are in f32
 * @param x sizes of the images
 * @param w sizes of the weights
 * @param y sizes of the result
 * @param strides of the window, per spatial dim
 * @param before padding
 * @param after padding
 * @param dilations of the window
 * @param transposed whether it is the gradient of a convolution by its input
 * @param channelsLast whether x, w and y have their second dim innermost in memory
 * @param tf32 whether f32 operands may be rounded to TF32
 * @param bias whether a number per output channel is added
 * @param relu whether negative results become 0
 * @param residual whether a value like the result is added after that
 * @param residualFirst whether it is added before that
 */
public record DnnProblem(
        DType dtype,
        List<Long> x,
        List<Long> w,
        List<Long> y,
        List<Long> strides,
        List<Long> before,
        List<Long> after,
        List<Long> dilations,
        boolean transposed,
        boolean channelsLast,
        boolean tf32,
        boolean bias,
        boolean relu,
        boolean residual,
        boolean residualFirst)
        implements DnnOperation {
    public DnnProblem {
        x = List.copyOf(x);
        w = List.copyOf(w);
        y = List.copyOf(y);
        strides = List.copyOf(strides);
        before = List.copyOf(before);
        after = List.copyOf(after);
        dilations = List.copyOf(dilations);
    }

    @Override
    public List<Long> operands() {
        List<Long> all = new ArrayList<>(List.of(DnnGraph.X, DnnGraph.W, DnnGraph.Y));
        if (bias) {
            all.add(DnnGraph.BIAS);
        }
        if (residual) {
            all.add(DnnGraph.RESIDUAL);
        }
        return all;
    }

    @Override
    public List<Float> scalars() {
        return List.of();
    }

    /** Results of one output channel: their number is what engines are chosen by. */
    long positions() {
        long product = y.getFirst();
        for (long size : y.subList(2, y.size())) {
            product = SizeMath.product("conv", product, size);
        }
        return product;
    }

    /** What problems are that differ in the number of images and their size alone. */
    DnnProblem kind() {
        return new DnnProblem(
                dtype,
                x.subList(1, 2),
                w,
                y.subList(1, 2),
                strides,
                before,
                after,
                dilations,
                transposed,
                channelsLast,
                tf32,
                bias,
                relu,
                residual,
                residualFirst);
    }

    /** Problems that one engine suits: results of a channel within a factor of 1.5, all else alike. */
    String problemClass() {
        return (transposed ? "transposed " : "") + dtype + (tf32 ? " as TF32" : "")
                + (channelsLast ? ", channels last" : "") + ", " + Tunable.near(positions()) + " places of " + x.get(1)
                + " channels by " + w + ", strides " + strides + ", pads " + before + " " + after + ", dilations "
                + dilations + (residualFirst ? ", residual" : "") + (bias ? ", bias" : "") + (relu ? ", relu" : "")
                + (residual ? ", residual" : "");
    }

    /** Whether something follows the sums. */
    public boolean fused() {
        return bias || relu || residual;
    }

    /** The sums alone. */
    public DnnProblem plain() {
        return new DnnProblem(
                dtype,
                x,
                w,
                y,
                strides,
                before,
                after,
                dilations,
                transposed,
                channelsLast,
                tf32,
                false,
                false,
                false,
                false);
    }
}
