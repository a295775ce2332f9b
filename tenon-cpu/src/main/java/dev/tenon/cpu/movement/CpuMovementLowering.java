package dev.tenon.cpu.movement;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.ArrayList;
import java.util.List;

/** Operations that only move elements: all but padding and triangles are strided copies. */
public final class CpuMovementLowering {
    private CpuMovementLowering() {}

    public static CpuStep lower(Copy op, Node node, CpuLoweringContext context) {
        return CopyStep.whole(node.input(0), node.output(), context);
    }

    public static CpuStep lower(Transpose op, Node node, CpuLoweringContext context) {
        long[] strides = node.input(0).shape().strides();
        long[] permuted = new long[strides.length];
        for (int i = 0; i < permuted.length; i++) {
            permuted[i] = strides[op.permutation().get(i)];
        }
        return copy(node, context, node.output().shape().sizes(), 0, permuted);
    }

    public static CpuStep lower(Slice op, Node node, CpuLoweringContext context) {
        long[] strides = node.input(0).shape().strides();
        long offset = 0;
        for (int i = 0; i < strides.length; i++) {
            offset += op.starts().get(i) * strides[i];
            strides[i] *= op.steps().get(i);
        }
        return copy(node, context, node.output().shape().sizes(), offset, strides);
    }

    public static CpuStep lower(Expand op, Node node, CpuLoweringContext context) {
        Shape from = node.input(0).shape();
        long[] strides = from.strides();
        long[] sizes = node.output().shape().sizes();
        long[] expanded = new long[sizes.length];
        int added = sizes.length - strides.length;
        for (int i = added; i < sizes.length; i++) {
            expanded[i] = from.size(i - added) == 1 ? 0 : strides[i - added];
        }
        return copy(node, context, sizes, 0, expanded);
    }

    private static CpuStep copy(Node node, CpuLoweringContext context, long[] sizes, long offset, long[] strides) {
        DType dtype = node.output().dtype();
        long[] rowMajor = Shape.of(sizes).strides();
        StridedCopy copy = new StridedCopy(dtype, sizes, offset, strides, 0, rowMajor);
        CopyStep.Part part = new CopyStep.Part(context.slot(node.input(0)), copy);
        return new CopyStep(dtype, List.of(part), context.slot(node.output()));
    }

    public static CpuStep lower(Concat op, Node node, CpuLoweringContext context) {
        DType dtype = node.output().dtype();
        Shape shape = node.output().shape();
        int axis = shape.axis(op.axis());
        long[] strides = shape.strides();
        List<CopyStep.Part> parts = new ArrayList<>();
        long at = 0;
        for (Value input : node.inputs()) {
            Shape part = input.shape();
            StridedCopy copy = new StridedCopy(dtype, part.sizes(), 0, part.strides(), at * strides[axis], strides);
            parts.add(new CopyStep.Part(context.slot(input), copy));
            at += part.size(axis);
        }
        return new CopyStep(dtype, parts, context.slot(node.output()));
    }

    public static CpuStep lower(Pad op, Node node, CpuLoweringContext context) {
        long[] from = node.input(0).shape().sizes();
        long[] to = node.output().shape().sizes();
        int[][] maps = new int[from.length][];
        for (int i = 0; i < from.length; i++) {
            if (op.before().get(i) != 0 || op.after().get(i) != 0) {
                maps[i] = padMap(op, from[i], to[i], op.before().get(i));
            }
        }
        MappedCopy.Fill fill =
                node.inputs().size() > 1 ? new MappedCopy.Fill(context.slot(node.input(1)), 0) : MappedCopy.Fill.of(0);
        return MappedCopy.of(
                node.output().dtype(), from, to, maps, fill, context.slot(node.input(0)), context.slot(node.output()));
    }

    private static int[] padMap(Pad op, long from, long to, long before) {
        return MappedCopy.map(to, index -> {
            long at = index - before;
            return switch (op.mode()) {
                case CONSTANT -> at >= 0 && at < from ? (int) at : MappedCopy.FILL;
                case EDGE -> (int) Math.clamp(at, 0, from - 1);
                case WRAP -> (int) Math.floorMod(at, from);
                case REFLECT -> (int) reflect(at, from);
            };
        });
    }

    private static long reflect(long at, long size) {
        long last = size - 1;
        return last == 0 ? 0 : last - Math.abs(Math.floorMod(at, 2 * last) - last);
    }

    public static CpuStep lower(Trilu op, Node node, CpuLoweringContext context) {
        return new TriluStep(op, node, context);
    }
}
