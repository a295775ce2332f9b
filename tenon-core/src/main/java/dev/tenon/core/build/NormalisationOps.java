package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;

/**
 * Adds softmax and the normalisations, of float types. Sums are kept in the accumulator's type. {@code epsilon} is
 * added to the variance (of RMS norms to the mean square).
 */
public interface NormalisationOps extends OpBuilder {
    /** Adds e^x / sum(e^x) along an axis, without overflow. */
    default Value softmax(Value x, int axis) {
        return add(new Softmax(Words.axis("softmax", x, axis)), x);
    }

    /** Adds log(softmax(x)) along an axis. */
    default Value logSoftmax(Value x, int axis) {
        return add(new LogSoftmax(Words.axis("log_softmax", x, axis)), x);
    }

    /** Adds a layer norm over the last axis; scale and bias have its size. */
    default Value layerNorm(Value x, Value scale, Value bias, double epsilon) {
        return layerNorm(x, scale, bias, -1, epsilon);
    }

    /** Adds a layer norm over the axes from {@code axis} to the last, whose shape scale and bias have. */
    default Value layerNorm(Value x, Value scale, Value bias, int axis, double epsilon) {
        Words.operands("layer_norm", "x scale bias", x, scale, bias);
        int from = Words.axis("layer_norm", x, axis);
        return add(Words.named("layer_norm", () -> new LayerNorm(from, epsilon, true, true)), x, scale, bias);
    }

    /** Adds x / sqrt(mean(x^2) + epsilon) scale over the last axis; the scale has its size. */
    default Value rmsNorm(Value x, Value scale, double epsilon) {
        return rmsNorm(x, scale, -1, epsilon);
    }

    /** Adds an RMS norm over the axes from {@code axis} to the last, whose shape the scale has. */
    default Value rmsNorm(Value x, Value scale, int axis, double epsilon) {
        Words.operands("rms_norm", "x scale", x, scale);
        int from = Words.axis("rms_norm", x, axis);
        return add(Words.named("rms_norm", () -> new RmsNorm(from, epsilon, true)), x, scale);
    }

    /**
     * Adds a batch norm as in inference: (x - mean) / sqrt(variance + epsilon) scale + bias by channel, x's second
     * axis.
     */
    default Value batchNorm(Value x, Value scale, Value bias, Value mean, Value variance, double epsilon) {
        return add(
                Words.named("batch_norm", () -> new BatchNorm(epsilon)),
                Words.operands("batch_norm", "x scale bias mean variance", x, scale, bias, mean, variance));
    }

    /**
     * Adds a group norm: mean and variance over each of {@code groups} groups of channels, scale and bias [C] by
     * channel.
     */
    default Value groupNorm(Value x, Value scale, Value bias, long groups, double epsilon) {
        return add(
                Words.named("group_norm", () -> new GroupNorm(groups, epsilon)),
                Words.operands("group_norm", "x scale bias", x, scale, bias));
    }

    /**
     * Adds an instance norm: mean and variance over the spatial dims of each channel, scale and bias [C] by channel.
     */
    default Value instanceNorm(Value x, Value scale, Value bias, double epsilon) {
        return add(
                Words.named("instance_norm", () -> new InstanceNorm(epsilon)),
                Words.operands("instance_norm", "x scale bias", x, scale, bias));
    }
}
