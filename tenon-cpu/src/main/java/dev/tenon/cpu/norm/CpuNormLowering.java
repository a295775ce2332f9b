package dev.tenon.cpu.norm;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Softmax and the norms. */
public final class CpuNormLowering {
    private CpuNormLowering() {}

    public static CpuStep lower(Softmax op, Node node, CpuLoweringContext context) {
        return softmax(op.axis(), false, node, context);
    }

    public static CpuStep lower(LogSoftmax op, Node node, CpuLoweringContext context) {
        return softmax(op.axis(), true, node, context);
    }

    private static CpuStep softmax(int axis, boolean log, Node node, CpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        long columns = shape.elements(axis + 1, shape.rank());
        // no columns are no rows
        long outer = columns == 0 ? 0 : shape.elements(0, axis);
        long size = shape.size(axis);
        long inner = Math.max(1, columns);
        int input = context.slot(x);
        int output = context.slot(node.output());
        boolean few = outer <= LongSoftmaxStep.MOST_ROWS && size > LongSoftmaxStep.MOST_ALONE;
        if (inner == 1 && few && x.dtype() != DType.F64) {
            return new LongSoftmaxStep(x.dtype(), outer, size, log, input, output);
        }
        if (inner == 1) {
            return new SoftmaxStep(x.dtype(), outer, size, log, input, output);
        }
        return x.dtype() == DType.F64
                ? new DoubleSoftmaxStep(outer, size, inner, log, input, output)
                : new ColumnSoftmaxStep(x.dtype(), outer, size, inner, log, input, output);
    }

    public static CpuStep lower(LayerNorm op, Node node, CpuLoweringContext context) {
        @Nullable Value scale = op.scale() ? node.input(1) : null;
        @Nullable Value bias = op.bias() ? node.inputs().getLast() : null;
        return rows(op.axis(), op.epsilon(), false, node, scale, bias, context);
    }

    public static CpuStep lower(RmsNorm op, Node node, CpuLoweringContext context) {
        return rows(op.axis(), op.epsilon(), true, node, op.scale() ? node.input(1) : null, null, context);
    }

    private static CpuStep rows(
            int axis,
            double epsilon,
            boolean rms,
            Node node,
            @Nullable Value scale,
            @Nullable Value bias,
            CpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        Shape row = shape.range(axis, shape.rank());
        return new RowNormStep(
                x.dtype(),
                new RowNormStep.Norm(shape.elements(0, axis), row.elements(), epsilon, rms, false),
                context.slot(x),
                parameter(scale, row, context),
                parameter(bias, row, context),
                context.slot(node.output()));
    }

    private static RowNormStep.@Nullable Parameter parameter(
            @Nullable Value value, Shape row, CpuLoweringContext context) {
        return value == null
                ? null
                : new RowNormStep.Parameter(context.slot(value), Broadcast.of(row, List.of(value.shape())));
    }

    public static CpuStep lower(InstanceNorm op, Node node, CpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        Shape channels = node.input(1).shape();
        long size = shape.elements(2, shape.rank());
        return new RowNormStep(
                x.dtype(),
                new RowNormStep.Norm(shape.elements(0, 2), size, op.epsilon(), false, true),
                context.slot(x),
                parameter(node.input(1), channels, context),
                parameter(node.input(2), channels, context),
                context.slot(node.output()));
    }

    public static CpuStep lower(LocalResponseNorm op, Node node, CpuLoweringContext context) {
        Value x = node.input(0);
        Shape shape = x.shape();
        return new LocalResponseNormStep(
                op,
                x.dtype(),
                shape.size(0),
                shape.size(1),
                shape.elements(2, shape.rank()),
                context.slot(x),
                context.slot(node.output()));
    }
}
