package dev.tenon.cuda.lower;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.ArgReduce;
import dev.tenon.core.ir.op.Attention;
import dev.tenon.core.ir.op.Binary;
import dev.tenon.core.ir.op.BitCast;
import dev.tenon.core.ir.op.Cast;
import dev.tenon.core.ir.op.Compare;
import dev.tenon.core.ir.op.Concat;
import dev.tenon.core.ir.op.Conv;
import dev.tenon.core.ir.op.ConvInteger;
import dev.tenon.core.ir.op.ConvTranspose;
import dev.tenon.core.ir.op.Copy;
import dev.tenon.core.ir.op.Cumulative;
import dev.tenon.core.ir.op.Dequantize;
import dev.tenon.core.ir.op.DynamicQuantize;
import dev.tenon.core.ir.op.Expand;
import dev.tenon.core.ir.op.Gather;
import dev.tenon.core.ir.op.GatherElements;
import dev.tenon.core.ir.op.GatherNd;
import dev.tenon.core.ir.op.GroupedMatMul;
import dev.tenon.core.ir.op.Gru;
import dev.tenon.core.ir.op.InUnits;
import dev.tenon.core.ir.op.InstanceNorm;
import dev.tenon.core.ir.op.LayerNorm;
import dev.tenon.core.ir.op.LocalResponseNorm;
import dev.tenon.core.ir.op.LogSoftmax;
import dev.tenon.core.ir.op.Lstm;
import dev.tenon.core.ir.op.MatMul;
import dev.tenon.core.ir.op.MatMulInteger;
import dev.tenon.core.ir.op.MaxPoolIndices;
import dev.tenon.core.ir.op.OneHot;
import dev.tenon.core.ir.op.Pad;
import dev.tenon.core.ir.op.PlainAttention;
import dev.tenon.core.ir.op.Pool;
import dev.tenon.core.ir.op.Primitive;
import dev.tenon.core.ir.op.Quantize;
import dev.tenon.core.ir.op.Reduce;
import dev.tenon.core.ir.op.Region;
import dev.tenon.core.ir.op.Reshape;
import dev.tenon.core.ir.op.ResidualNorm;
import dev.tenon.core.ir.op.Resize;
import dev.tenon.core.ir.op.RmsNorm;
import dev.tenon.core.ir.op.Rnn;
import dev.tenon.core.ir.op.Rope;
import dev.tenon.core.ir.op.ScatterElements;
import dev.tenon.core.ir.op.ScatterNd;
import dev.tenon.core.ir.op.Slice;
import dev.tenon.core.ir.op.Softmax;
import dev.tenon.core.ir.op.TopK;
import dev.tenon.core.ir.op.Transpose;
import dev.tenon.core.ir.op.Trilu;
import dev.tenon.core.ir.op.Unary;
import dev.tenon.core.ir.op.Where;
import java.util.stream.Collectors;

/** Chooses the lowering of each primitive; the bodies live in a file a family. */
public final class GpuLowering {
    /** Of a head of queries and one of values together: what every device has shared memory for, in f64 too. */
    private static final long MOST_HEAD_ELEMENTS = 256;

    private GpuLowering() {}

    /** @throws UnsupportedException naming the operation that has no kernel yet */
    public static Step lower(Node node, LoweringContext context) {
        if (node.op() instanceof PlainAttention op) {
            return AttentionLowering.lower(op, node, context);
        }
        if (node.op() instanceof ResidualNorm op) {
            return NormLowering.lower(op, node, context);
        }
        if (!(node.op() instanceof Primitive primitive)) {
            throw unsupported(node);
        }
        return switch (primitive) {
            case GroupedMatMul _,
                    MatMulInteger _,
                    Conv _,
                    ConvTranspose _,
                    ConvInteger _,
                    Pool _,
                    MaxPoolIndices _,
                    Resize _,
                    Pad _,
                    InstanceNorm _,
                    LocalResponseNorm _,
                    ArgReduce _,
                    Cumulative _,
                    TopK _,
                    GatherNd _,
                    ScatterElements _,
                    ScatterNd _,
                    Trilu _,
                    OneHot _,
                    Rope _,
                    Lstm _,
                    Gru _,
                    Rnn _,
                    Quantize _,
                    Dequantize _,
                    DynamicQuantize _,
                    InUnits _ -> throw unsupported(node);
            case MatMul op -> MatMulLowering.lower(op, node, context);
            case Reshape _, BitCast _ -> throw new IllegalStateException(node + " is a view and has no step");
            case Attention op -> AttentionLowering.lower(op, node, context);
            case Unary _, Binary _, Compare _, Where _, Cast _, Region _ -> ElementwiseLowering.lower(node, context);
            case Softmax op -> NormLowering.lower(op, node, context);
            case LogSoftmax op -> NormLowering.lower(op, node, context);
            case LayerNorm op -> NormLowering.lower(op, node, context);
            case RmsNorm op -> NormLowering.lower(op, node, context);
            case Copy op -> MovementLowering.lower(op, node, context);
            case Transpose op -> MovementLowering.lower(op, node, context);
            case Slice op -> MovementLowering.lower(op, node, context);
            case Concat op -> MovementLowering.lower(op, node, context);
            case Expand op -> MovementLowering.lower(op, node, context);
            case Reduce op -> ReductionLowering.lower(op, node, context);
            case Gather op -> GatherLowering.lower(op, node, context);
            case GatherElements op -> GatherLowering.lower(op, node, context);
        };
    }

    /** A step of the CPU backend in the place of a kernel that is not there. @throws UnsupportedException where that does not run the node either */
    public static Step onHost(Node node, LoweringContext context, String reason) {
        return HostStep.of(node, context, reason);
    }

    /** Whether a node is run whole: see {@link dev.tenon.core.runtime.spi.Device#claims}. */
    public static boolean claims(Node whole) {
        if (whole.op() instanceof ResidualNorm op) {
            return NormLowering.claims(op, whole);
        }
        if (!(whole.op() instanceof PlainAttention op)) {
            return false;
        }
        long head = op.packed()
                ? SizeMath.product("attention", 2, whole.input(0).shape().size(4))
                : SizeMath.sum(
                        "attention",
                        whole.input(0).shape().size(3),
                        whole.input(2).shape().size(3));
        return head <= MOST_HEAD_ELEMENTS;
    }

    private static UnsupportedException unsupported(Node node) {
        return new UnsupportedException("the CUDA backend has no kernel yet for "
                + node.op().mnemonic()
                + node.inputs().stream().map(input -> " " + input.type()).collect(Collectors.joining()));
    }
}
