package dev.tenon.cuda.lower.movement;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.WalkStruct;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Padding, and triangles of matrices. */
public final class GpuPadLowering {
    private GpuPadLowering() {}

    /** A dim of the result: its size, what lies before the input, the input's size and stride. */
    private record Axis(long size, long before, long source, long stride) {
        boolean whole() {
            return before == 0 && size == source;
        }
    }

    public static Lowered lower(Pad op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        int bytes = GpuMovementLowering.width(node);
        List<Axis> axes = axes(op, node.input(0).shape(), y);
        long run = 1;
        while (!axes.isEmpty() && axes.getLast().whole()) {
            run = SizeMath.product("pad", run, axes.removeLast().size());
        }
        int unit = MovementKernels.widest(run * bytes);
        long perRun = run * bytes / unit;
        List<Axis> inUnits = new ArrayList<>();
        for (Axis axis : axes) {
            inUnits.add(new Axis(axis.size(), axis.before(), axis.source(), axis.stride() / run * perRun));
        }
        if (perRun > 1) {
            inUnits.add(new Axis(perRun, 0, perRun, 1));
        }
        if (inUnits.size() > WalkStruct.DIMS) {
            return new NoKernel("pad of " + inUnits.size() + " dims that are padded or lie between such; the kernel"
                    + " walks at most " + WalkStruct.DIMS);
        }
        MemorySegment walk = WalkStruct.of(
                3,
                inUnits.stream().mapToLong(Axis::size).toArray(),
                inUnits.stream().mapToLong(Axis::stride).toArray(),
                inUnits.stream().mapToLong(Axis::before).toArray(),
                inUnits.stream().mapToLong(Axis::source).toArray());
        long elements = y.elements() / run * perRun;
        Kernel kernel = context.kernels().kernel(IndexingCatalog.PAD, "pad", KernelFiles.width(unit));
        int input = context.slot(node.input(0));
        int fill = node.inputs().size() > 1 ? context.slot(node.input(1)) : -1;
        int output = context.slot(node.output());
        int mode = code(op.mode());
        return new LaunchStep(
                "pad, " + MovementKernels.access(unit),
                LaunchStep.launch(
                        kernel,
                        Grids.of(elements),
                        (arguments, frame) -> arguments
                                .add(frame.at(input))
                                .add(fill < 0 ? 0 : frame.at(fill))
                                .add(frame.at(output))
                                .add(bytes)
                                .add(mode)
                                .add(elements)
                                .add(walk, WalkStruct.ALIGNMENT)));
    }

    /** The dims of the result; those without padding are one with the dim outside of them, where that has none. */
    private static List<Axis> axes(Pad op, Shape x, Shape y) {
        long[] strides = x.strides();
        List<Axis> axes = new ArrayList<>();
        for (int i = 0; i < strides.length; i++) {
            Axis axis = new Axis(y.size(i), op.before().get(i), x.size(i), strides[i]);
            if (axis.whole() && !axes.isEmpty() && axes.getLast().whole()) {
                long size = SizeMath.product("pad", axes.removeLast().size(), axis.size());
                axes.add(new Axis(size, 0, size, axis.stride()));
            } else if (!axis.whole() || axis.size() > 1) {
                axes.add(axis);
            }
        }
        return axes;
    }

    /** The numbers of pad.cu. */
    private static int code(PadMode mode) {
        return switch (mode) {
            case CONSTANT -> 0;
            case REFLECT -> 1;
            case EDGE -> 2;
            case WRAP -> 3;
        };
    }

    public static GpuStep lower(Trilu op, Node node, GpuLoweringContext context) {
        Shape shape = node.output().shape();
        long elements = shape.elements();
        if (elements == 0) {
            return new NoWork(op.mnemonic());
        }
        int bytes = GpuMovementLowering.width(node);
        Kernel kernel = context.kernels().kernel(IndexingCatalog.TRILU, "trilu", KernelFiles.width(bytes));
        long rows = shape.size(shape.rank() - 2);
        long columns = shape.size(shape.rank() - 1);
        int pack = columns % (16 / bytes) == 0 ? 16 / bytes : 1;
        int input = context.slot(node.input(0));
        int output = context.slot(node.output());
        return new LaunchStep(
                "trilu, " + pack * bytes + " bytes an access",
                LaunchStep.launch(
                        kernel,
                        Grids.of(elements / pack),
                        (arguments, frame) -> arguments
                                .add(frame.at(input))
                                .add(frame.at(output))
                                .add(elements)
                                .add(rows)
                                .add(columns)
                                .add(op.upper() ? 1 : 0)
                                .add(op.diagonal())));
    }
}
