package dev.tenon.cpu.convolution;

import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.core.options.Precision;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.window.Windows3;
import java.util.Objects;

/** Convolutions of f32 by constant weights whose channels lie side by side. */
public final class ChannelsLastLowering {
    private static final int MOST_AXES = 2;

    /** Fewer channels in each of several groups are dots of a few cells: no work for products of matrices. */
    private static final int LEAST_PART = 4;

    private ChannelsLastLowering() {}

    /** Whether a node runs as it is; the shapes need numbers. */
    public static boolean claims(ChannelsLastConv op, Node node) {
        Conv conv = op.conv();
        Shape x = node.input(0).shape();
        Shape w = node.input(1).shape();
        ConstantData weights = MemoryPlanner.shown(node.input(1)).constant();
        boolean takes = node.output().dtype() == DType.F32
                && conv.strides().size() <= MOST_AXES
                && weights != null
                && x.isConcrete()
                && FiniteWeights.isFinite(weights);
        long part = takes ? w.size(w.rank() - 1) : 0;
        return part > 0
                && w.size(0) > 0
                && (conv.groups() == 1 || part >= LEAST_PART || isDepthwise(conv, part, w.size(0)));
    }

    private static boolean isDepthwise(Conv conv, long part, long channelsOut) {
        return part == 1 && channelsOut == conv.groups();
    }

    public static CpuStep lower(ChannelsLastConv op, Node node, CpuLoweringContext context) {
        Conv conv = op.conv();
        Shape x = first(node.input(0).shape());
        Shape y = first(node.output().shape());
        Windows3 windows = Windows3.of(
                node,
                x,
                y,
                Windows3.kernel(first(node.input(1).shape())),
                conv.strides(),
                conv.padsBefore(),
                conv.padsAfter(),
                conv.dilations());
        ConvShape shape = ConvShape.of(windows, x, y, conv.groups());
        ConvEpilogue epilogue = new ConvEpilogue(conv.epilogue(), node, context);
        ConstantData weights = Objects.requireNonNull(node.input(1).constant());
        if (isDepthwise(conv, shape.channelsIn(), y.size(1))) {
            return new DepthwiseChannelStep(shape, epilogue, weights, node, context);
        }
        if (context.precision() != Precision.STRICT && WinogradStep.suits(shape)) {
            return new WinogradStep(shape, epilogue, weights, node, context);
        }
        return new ChannelGemmStep(shape, epilogue, weights, node, context);
    }

    /** A shape with its last dim in the second place. */
    private static Shape first(Shape shape) {
        return Shape.of(
                ChannelsLastConv.first(shape.rank()).stream().map(shape::dim).toArray(Dim[]::new));
    }
}
