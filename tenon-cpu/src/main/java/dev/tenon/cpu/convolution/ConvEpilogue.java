package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** What a convolution does to its sums: a bias for each channel, an activation and a residual in either order. */
final class ConvEpilogue {
    private final DType dtype;
    private final int bias;
    private final @Nullable Unary activation;
    private final int residual;
    private final boolean residualFirst;

    ConvEpilogue(Epilogue epilogue, Node node, CpuLoweringContext context) {
        this.dtype = node.output().dtype();
        this.bias = epilogue.bias() ? context.slot(node.input(2)) : -1;
        this.activation = epilogue.activation();
        this.residual = epilogue.residual() ? context.slot(node.inputs().getLast()) : -1;
        this.residualFirst = epilogue.residualFirst();
    }

    boolean biased() {
        return bias >= 0;
    }

    /** The f32 of all channels; {@link Place#NONE} for none. */
    Place biases(CpuFrame frame) {
        return bias < 0 ? Place.NONE : new Place(frame.at(bias), 0);
    }

    /** The f32 that the sums of a channel start from. */
    float start(CpuFrame frame, long channel) {
        return bias < 0 ? 0 : frame.at(bias).get(Raw.F32, channel * 4);
    }

    /** All that there is to do to plain f32 sums of a channel, in place. */
    void apply(CpuFrame frame, Loops loops, long channel, MemorySegment output, long index, int count) {
        if (bias >= 0) {
            loops.affine(output, index * 4, output, index * 4, 1, start(frame, channel), count);
        }
        finish(frame, loops, output, index, count);
    }

    /** What is left to do to f32 sums that started from the bias, in place. */
    void finish(CpuFrame frame, Loops loops, MemorySegment output, long index, int count) {
        long at = index * 4;
        if (residualFirst) {
            addResidual(frame, loops, output, at, count);
        }
        if (activation != null) {
            loops.unary(activation, output, at, output, at, count);
        }
        if (!residualFirst) {
            addResidual(frame, loops, output, at, count);
        }
    }

    private void addResidual(CpuFrame frame, Loops loops, MemorySegment output, long at, int count) {
        if (residual >= 0) {
            loops.binary(BinaryFn.ADD, output, at, frame.at(residual), at, output, at, count);
        }
    }

    /** Writes one element of any type from its plain sum. */
    void store(CpuFrame frame, MemorySegment output, long index, long channel, double sum) {
        double value = bias < 0 ? sum : sum + Elements.getDouble(dtype, frame.at(bias), channel);
        double added = residual < 0 ? 0 : Elements.getDouble(dtype, frame.at(residual), index);
        value = residualFirst ? value + added : value;
        value = activation == null ? value : activation.apply(value);
        // a result of -0 stays one where nothing is added
        Elements.setDouble(dtype, output, index, residualFirst || residual < 0 ? value : value + added);
    }
}
