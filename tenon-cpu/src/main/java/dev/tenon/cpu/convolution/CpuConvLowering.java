package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.window.Windows3;
import dev.tenon.cpu.window.WindowsN;

/** Convolutions. f32 goes through the matrix kernel or, depthwise, planes or rows; a direct form does every type. */
public final class CpuConvLowering {
    private CpuConvLowering() {}

    public static CpuStep lower(Conv op, Node node, CpuLoweringContext context) {
        if (op.strides().size() > Windows3.MOST_AXES) {
            WindowsN windows = new WindowsN(
                    node,
                    node.input(0).shape(),
                    node.output().shape(),
                    Windows3.kernel(node.input(1).shape()),
                    op.strides(),
                    op.padsBefore(),
                    op.padsAfter(),
                    op.dilations());
            ConvEpilogue epilogue = new ConvEpilogue(op.epilogue(), node, context);
            return new FloatPositionStep(windows, false, op.groups(), epilogue, node, context);
        }
        Shape weights = node.input(1).shape();
        ConvShape shape = ConvShape.of(
                Windows3.of(
                        node,
                        node.input(0).shape(),
                        node.output().shape(),
                        Windows3.kernel(weights),
                        op.strides(),
                        op.padsBefore(),
                        op.padsAfter(),
                        op.dilations()),
                node.input(0).shape(),
                node.output().shape(),
                op.groups());
        ConvEpilogue epilogue = new ConvEpilogue(op.epilogue(), node, context);
        if (node.output().dtype() != DType.F32) {
            return new DirectConvStep(shape, epilogue, node, context);
        }
        if (shape.channelsIn() != 1 || shape.channelsOut() != 1) {
            return new GemmConvStep(shape, epilogue, node, context);
        }
        return DepthwisePlaneStep.suits(shape, node)
                ? new DepthwisePlaneStep(shape, epilogue, node, context)
                : new DepthwiseConvStep(shape, epilogue, node, context);
    }

    public static CpuStep lower(ConvTranspose op, Node node, CpuLoweringContext context) {
        if (op.strides().size() > Windows3.MOST_AXES) {
            WindowsN windows = new WindowsN(
                    node,
                    node.output().shape(),
                    node.input(0).shape(),
                    Windows3.kernel(node.input(1).shape()),
                    op.strides(),
                    op.padsBefore(),
                    op.padsAfter(),
                    op.dilations());
            ConvEpilogue epilogue = new ConvEpilogue(op.epilogue(), node, context);
            return new FloatPositionStep(windows, true, op.groups(), epilogue, node, context);
        }
        Shape weights = node.input(1).shape();
        // the windows of the convolution whose gradient this is: they slide over the output
        Windows3 windows = Windows3.of(
                node,
                node.output().shape(),
                node.input(0).shape(),
                Windows3.kernel(weights),
                op.strides(),
                op.padsBefore(),
                op.padsAfter(),
                op.dilations());
        ConvShape shape =
                ConvShape.of(windows, node.input(0).shape(), node.output().shape(), op.groups());
        ConvEpilogue epilogue = new ConvEpilogue(op.epilogue(), node, context);
        return node.output().dtype() == DType.F32
                ? new GemmConvTransposeStep(shape, epilogue, node, context)
                : new DirectConvTransposeStep(shape, epilogue, node, context);
    }

    public static CpuStep lower(ConvInteger op, Node node, CpuLoweringContext context) {
        if (op.strides().size() > Windows3.MOST_AXES) {
            WindowsN windows = new WindowsN(
                    node,
                    node.input(0).shape(),
                    node.output().shape(),
                    Windows3.kernel(node.input(1).shape()),
                    op.strides(),
                    op.padsBefore(),
                    op.padsAfter(),
                    op.dilations());
            return new IntegerPositionStep(op, windows, node, context);
        }
        Shape weights = node.input(1).shape();
        ConvShape shape = ConvShape.of(
                Windows3.of(
                        node,
                        node.input(0).shape(),
                        node.output().shape(),
                        Windows3.kernel(weights),
                        op.strides(),
                        op.padsBefore(),
                        op.padsAfter(),
                        op.dilations()),
                node.input(0).shape(),
                node.output().shape(),
                op.groups());
        return new ConvIntegerStep(op, shape, node, context);
    }
}
