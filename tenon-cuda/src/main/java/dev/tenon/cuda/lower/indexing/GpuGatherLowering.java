package dev.tenon.cuda.lower.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.cuda.kernel.GatherKernels;
import dev.tenon.cuda.lower.movement.GpuMovementLowering;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;

/** Reads from places that indices name. */
public final class GpuGatherLowering {
    private GpuGatherLowering() {}

    private record Indexed(
            GatherKernels.Launch launch, int data, int indices, int output, int number, int axis, long size)
            implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            launch.enqueue(
                    frame.stream(),
                    frame.arguments(),
                    frame.at(data),
                    frame.at(indices),
                    frame.at(output),
                    frame.faults(),
                    number);
        }

        @Override
        public String tier() {
            return launch.tier();
        }

        @Override
        public String fault(long index) {
            return "index " + index + " is out of range for axis " + axis + " of size " + size + "; expected " + -size
                    + " to " + (size - 1);
        }
    }

    public static GpuStep lower(Gather op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape data = node.input(0).shape();
        GatherKernels.Launch launch = new GatherKernels(context.kernels())
                .axis(
                        GpuMovementLowering.width(node),
                        node.input(1).dtype() == DType.I64,
                        data.elements(0, op.axis()),
                        data.size(op.axis()),
                        node.input(1).shape().elements(),
                        data.elements(op.axis() + 1, data.rank()));
        return step(launch, op.axis(), node, context);
    }

    public static GpuStep lower(GatherElements op, Node node, GpuLoweringContext context) {
        Shape indices = node.output().shape();
        if (indices.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape data = node.input(0).shape();
        long[] strides = data.strides();
        long along = strides[op.axis()];
        strides[op.axis()] = 0;
        GatherKernels.Launch launch = new GatherKernels(context.kernels())
                .elements(
                        GpuMovementLowering.width(node),
                        node.input(1).dtype() == DType.I64,
                        indices.sizes(),
                        strides,
                        indices.elements(),
                        data.size(op.axis()),
                        along);
        return step(launch, op.axis(), node, context);
    }

    private static GpuStep step(GatherKernels.Launch launch, int axis, Node node, GpuLoweringContext context) {
        return new Indexed(
                launch,
                context.slot(node.input(0)),
                context.slot(node.input(1)),
                context.slot(node.output()),
                context.stepNumber(),
                axis,
                node.input(0).shape().size(axis));
    }
}
