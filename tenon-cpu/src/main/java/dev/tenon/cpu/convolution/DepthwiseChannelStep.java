package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.ChannelRowStep;
import dev.tenon.cpu.window.ChannelWindow;
import java.lang.foreign.MemorySegment;

/** Convolution of f32 where each channel has a filter of its own and channels lie side by side. */
final class DepthwiseChannelStep extends ChannelRowStep {
    private final ConvEpilogue epilogue;
    private final Loops finishing = Loops.current();
    /** [cells, channels]. */
    private final MemorySegment weights;

    DepthwiseChannelStep(
            ConvShape shape, ConvEpilogue epilogue, ConstantData weights, Node node, CpuLoweringContext context) {
        super("depthwise rows of channels", shape.windows(), shape.batch(), shape.groups(), node, context);
        this.epilogue = epilogue;
        int cells = shape.windows().cells();
        this.weights = context.prepared(
                weights,
                "cells by channels",
                data -> new CpuLoweringContext.Prepared(
                        data.type().bytes(), to -> turn(data.elements(), shape.groups(), cells, to)));
    }

    private static void turn(MemorySegment from, int channels, int cells, MemorySegment to) {
        for (int channel = 0; channel < channels; channel++) {
            for (int cell = 0; cell < cells; cell++) {
                float weight = from.get(Raw.F32, 4L * ((long) channel * cells + cell));
                to.set(Raw.F32, 4L * ((long) cell * channels + channel), weight);
            }
        }
    }

    @Override
    protected void collect(
            CpuFrame frame, ChannelWindow cells, Position place, MemorySegment target, long to, int positions) {
        long pixel = 4L * channels;
        int across = windows.width().kernel();
        Matrix filter = new Matrix(weights, ((long) place.line() * across + place.cell()) * pixel, across * pixel);
        loops.weigh(cells, filter, epilogue.biases(frame), new Place(target, to * 4), positions, channels);
    }

    @Override
    protected void finish(CpuFrame frame, MemorySegment target, long to, int count) {
        epilogue.finish(frame, finishing, target, to, count);
    }
}
