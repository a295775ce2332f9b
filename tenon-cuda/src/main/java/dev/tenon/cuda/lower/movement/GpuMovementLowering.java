package dev.tenon.cuda.lower.movement;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.NoWork;
import java.util.ArrayList;
import java.util.List;

/** Operations that only move elements: strided copies, one an input. */
public final class GpuMovementLowering {
    private GpuMovementLowering() {}

    /** One input's part of a result. */
    private record Part(MovementKernels.Move move, int input) {}

    private record Moves(List<Part> parts, int output, String tier) implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            for (Part part : parts) {
                part.move().enqueue(frame.stream(), frame.arguments(), frame.at(part.input()), frame.at(output));
            }
        }
    }

    private record Bytes(CopyKernel kernel, long bytes, int input, int output) implements GpuStep {
        @Override
        public void enqueue(GpuFrame frame) {
            kernel.enqueue(frame.stream(), frame.arguments(), frame.at(input), frame.at(output), bytes);
        }

        @Override
        public String tier() {
            return "copy";
        }
    }

    public static GpuStep lower(Copy op, Node node, GpuLoweringContext context) {
        long bytes = node.output().type().bytes();
        return bytes == 0
                ? new NoWork(op.mnemonic())
                : new Bytes(
                        new CopyKernel(context.kernels()),
                        bytes,
                        context.slot(node.input(0)),
                        context.slot(node.output()));
    }

    public static GpuStep lower(Transpose op, Node node, GpuLoweringContext context) {
        long[] strides = node.input(0).shape().strides();
        long[] permuted = new long[strides.length];
        for (int i = 0; i < permuted.length; i++) {
            permuted[i] = strides[op.permutation().get(i)];
        }
        return copy(node, context, 0, permuted);
    }

    public static GpuStep lower(Slice op, Node node, GpuLoweringContext context) {
        long[] strides = node.input(0).shape().strides();
        long offset = 0;
        for (int i = 0; i < strides.length; i++) {
            offset += op.starts().get(i) * strides[i];
            strides[i] *= op.steps().get(i);
        }
        return copy(node, context, offset, strides);
    }

    public static GpuStep lower(Expand op, Node node, GpuLoweringContext context) {
        return copy(
                node, context, 0, expanded(node.input(0).shape(), node.output().shape()));
    }

    public static GpuStep lower(Concat op, Node node, GpuLoweringContext context) {
        Shape shape = node.output().shape();
        if (shape.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        MovementKernels kernels = new MovementKernels(context.kernels());
        int bytes = width(node);
        long[] strides = shape.strides();
        List<Part> parts = new ArrayList<>();
        long at = 0;
        for (Value input : node.inputs()) {
            Shape own = input.shape();
            if (own.elements() > 0) {
                MovementKernels.Move move =
                        kernels.strided(bytes, own.sizes(), 0, own.strides(), at * strides[op.axis()], strides);
                parts.add(new Part(move, context.slot(input)));
            }
            at += own.size(op.axis());
        }
        String tier =
                "concat of " + parts.size() + ": " + parts.getFirst().move().tier();
        return new Moves(parts, context.slot(node.output()), tier);
    }

    private static GpuStep copy(Node node, GpuLoweringContext context, long offset, long[] strides) {
        Shape shape = node.output().shape();
        if (shape.elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        MovementKernels.Move move = new MovementKernels(context.kernels())
                .strided(width(node), shape.sizes(), offset, strides, 0, shape.strides());
        return new Moves(
                List.of(new Part(move, context.slot(node.input(0)))),
                context.slot(node.output()),
                node.op().mnemonic() + ": " + move.tier());
    }

    /** A value broadcast to a shape, at least one element. */
    public static MovementKernels.Move expansion(MovementKernels kernels, DType dtype, Shape from, Shape to) {
        return kernels.strided(dtype.bytes(), to.sizes(), 0, expanded(from, to), 0, to.strides());
    }

    private static long[] expanded(Shape from, Shape to) {
        long[] strides = from.strides();
        long[] expanded = new long[to.rank()];
        int added = to.rank() - strides.length;
        for (int i = 0; i < strides.length; i++) {
            expanded[added + i] = from.size(i) == 1 ? 0 : strides[i];
        }
        return expanded;
    }

    /** Bytes of an element. */
    public static int width(Node node) {
        return node.input(0).dtype().bytes();
    }
}
