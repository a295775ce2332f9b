package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;

/**
 * Where a convolution's values are, and what is done to its results.
 *
 * @param x slot of the images
 * @param w slot of the weights
 * @param bias slot of a number per output channel; -1 for none
 * @param residual slot; -1 for none
 * @param y slot of the result
 * @param dtype of all of them
 */
record ConvOperands(int x, int w, int bias, int residual, int y, DType dtype, Epilogue epilogue) {
    static ConvOperands of(Epilogue epilogue, Node node, GpuLoweringContext context) {
        return new ConvOperands(
                context.slot(node.input(0)),
                context.slot(node.input(1)),
                epilogue.bias() ? context.slot(node.input(2)) : -1,
                epilogue.residual() ? context.slot(node.inputs().getLast()) : -1,
                context.slot(node.output()),
                node.output().dtype(),
                epilogue);
    }

    /** In slots of their own: the images 0, the weights 1, the bias 2, the residual 3, the result 4. */
    static ConvOperands apart(Epilogue epilogue, DType dtype) {
        return new ConvOperands(0, 1, epilogue.bias() ? 2 : -1, epilogue.residual() ? 3 : -1, 4, dtype, epilogue);
    }

    ConvOperands with(Epilogue replaced) {
        return new ConvOperands(x, w, bias, residual, y, dtype, replaced);
    }

    /** Added to a function's number where the residual comes before it; conv.cuh has the same. */
    private static final int RESIDUAL_FIRST = 1 << 16;

    /** A launch with where the operands lie, as kernels of convolutions take it first. */
    PreparedLaunch.Builder launch(Kernel kernel, LaunchShape shape) {
        return PreparedLaunch.of(kernel, shape)
                .value(x)
                .value(w)
                .value(bias)
                .value(residual)
                .value(y);
    }

    /** The function's number, 0 for none, with whether the residual comes before it. */
    int function() {
        Unary function = epilogue.activation();
        return function == null ? 0 : function.fn().code() + (epilogue.residualFirst() ? RESIDUAL_FIRST : 0);
    }

    /** Adds the function and its two numbers. */
    PreparedLaunch.Builder activation(PreparedLaunch.Builder launch) {
        Unary function = epilogue.activation();
        return launch.add(function())
                .compute(dtype, function == null ? 0 : function.alpha())
                .compute(dtype, function == null ? 0 : function.beta());
    }

    /** {@code , bias, relu, residual}, in the order in which they follow each other. */
    String words() {
        Unary function = epilogue.activation();
        String residual = epilogue.residual() ? ", residual" : "";
        return (epilogue.bias() ? ", bias" : "")
                + (epilogue.residualFirst() ? residual : "")
                + (function == null ? "" : ", " + function.fn().word())
                + (epilogue.residualFirst() ? "" : residual);
    }
}
