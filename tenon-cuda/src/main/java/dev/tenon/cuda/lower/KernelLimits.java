package dev.tenon.cuda.lower;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.cuda.kernel.MovementKernels;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.elementwise.GpuElementwiseLowering;
import java.util.List;

/** Types and sizes that the kernels of an operation do not take, whatever its family does beside. */
final class KernelLimits {
    private KernelLimits() {}

    /** One line that says why no kernel takes the node; empty where one may. */
    static String refusal(Node node) {
        if (node.op() instanceof Custom || node.op() instanceof ScaledMatMul) {
            return ""; // its definition, or its lowering, says what it takes
        }
        String inputs = refusal(node, node.inputs());
        String reason = inputs.isEmpty() ? refusal(node, node.outputs()) : inputs;
        return reason.isEmpty()
                ? ""
                : "the CUDA backend has no kernel yet for " + node.op().mnemonic() + " of " + reason;
    }

    /** Asked for each node of each plan, so in loops rather than streams, which a young JVM runs slowly. */
    private static String refusal(Node node, List<Value> operands) {
        for (Value operand : operands) {
            String reason = refusal(node, operand);
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        return "";
    }

    private static String refusal(Node node, Value operand) {
        DType dtype = operand.dtype();
        if (!TypeCodes.has(dtype) && !moves(node) && !computes(node, dtype)) {
            return dtype.bits() < 8 ? dtype + ", whose elements share bytes" : dtype.toString();
        }
        if (node.op() instanceof MatMul && !dtype.isFloat()) {
            return dtype.toString();
        }
        if (operand.shape().rank() <= MovementKernels.MOST_DIMS || !walks(node)) {
            return "";
        }
        int dims = 0;
        for (long size : operand.shape().sizes()) {
            dims += size > 1 ? 1 : 0;
        }
        return dims > MovementKernels.MOST_DIMS
                ? dims + " dims; kernels walk at most " + MovementKernels.MOST_DIMS
                : "";
    }

    /** Whether its elements of 4 bits are unpacked to bytes first: casts and copies take them as they are. */
    static boolean unpacks(Node node) {
        return moves(node) && !(node.op() instanceof Cast) && !(node.op() instanceof Copy) && PackedStep.takes(node);
    }

    /** Whether it computes with 8-bit floats or integers of 4 bits. */
    private static boolean computes(Node node, DType dtype) {
        return node.op() instanceof Region region
                ? GpuElementwiseLowering.takesTypes(region, node)
                : node.op() instanceof Elementwise && dtype.bits() == 8;
    }

    /** Whether elements are only bytes to it, or it knows all types. */
    private static boolean moves(Node node) {
        Op op = node.op();
        return op instanceof Cast
                || op instanceof Where
                || op instanceof Copy
                || op instanceof Transpose
                || op instanceof Slice
                || op instanceof Concat
                || op instanceof Expand
                || op instanceof Gather
                || op instanceof GatherElements
                || (op instanceof ScatterElements scatter && scatter.fn() == ScatterFn.REPLACE)
                || indexes(op);
    }

    /** Whether elements are only bytes or keys to it, and dims are not walked, or are as its lowering says. */
    private static boolean indexes(Op op) {
        return op instanceof ArgReduce
                || op instanceof TopK
                || op instanceof NonZeroIndices
                || op instanceof UniqueIndices
                || op instanceof GatherNd
                || (op instanceof ScatterNd scatter && scatter.fn() == ScatterFn.REPLACE)
                || op instanceof OneHot
                || op instanceof Pad
                || op instanceof Trilu;
    }

    /** Whether it goes through its operands dim by dim. */
    private static boolean walks(Node node) {
        return (moves(node) && !indexes(node.op()))
                || node.op() instanceof ScatterElements
                || node.op() instanceof Elementwise
                || node.op() instanceof Region
                || node.op() instanceof Reduce;
    }
}
