package dev.tenon.cuda.lower;

import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.BitCast;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.SelectiveScan;
import dev.tenon.cuda.lower.attention.AttentionLowering;
import dev.tenon.cuda.lower.attention.RopeLowering;
import dev.tenon.cuda.lower.elementwise.ElementwiseLowering;
import dev.tenon.cuda.lower.indexing.GatherLowering;
import dev.tenon.cuda.lower.indexing.ScatterLowering;
import dev.tenon.cuda.lower.indexing.TupleLowering;
import dev.tenon.cuda.lower.matmul.IntegerMatMul;
import dev.tenon.cuda.lower.matmul.MatMulLowering;
import dev.tenon.cuda.lower.matmul.PackedMatMul;
import dev.tenon.cuda.lower.movement.MovementLowering;
import dev.tenon.cuda.lower.movement.PadLowering;
import dev.tenon.cuda.lower.norm.ChannelNormLowering;
import dev.tenon.cuda.lower.norm.NormLowering;
import dev.tenon.cuda.lower.quantisation.QuantisationLowering;
import dev.tenon.cuda.lower.random.RandomLowering;
import dev.tenon.cuda.lower.reduce.ArgReduceLowering;
import dev.tenon.cuda.lower.reduce.CumulativeLowering;
import dev.tenon.cuda.lower.reduce.ReductionLowering;
import dev.tenon.cuda.lower.searching.SearchLowering;
import dev.tenon.cuda.lower.searching.UniqueLowering;
import dev.tenon.cuda.lower.signal.DftLowering;
import dev.tenon.cuda.lower.sorting.TopKLowering;
import dev.tenon.cuda.lower.state.RecurrentLowering;
import dev.tenon.cuda.lower.state.ScanLowering;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.window.ConvIntegerLowering;
import dev.tenon.cuda.lower.window.PoolLowering;
import dev.tenon.cuda.lower.window.ResizeLowering;
import dev.tenon.cuda.lower.window.SampleLowering;
import java.util.stream.Collectors;

/** Chooses the lowering of each primitive; the bodies live in a file a family. */
public final class GpuLowering {
    /** Of a head of queries and one of values together: what every device has shared memory for, in f64 too. */
    private static final long MOST_HEAD_ELEMENTS = 256;

    private GpuLowering() {}

    /** The step that does a node's work, or why no kernel does. */
    public static Lowered lower(Node node, GpuLoweringContext context) {
        String refusal = KernelLimits.refusal(node);
        if (!refusal.isEmpty()) {
            return new NoKernel(refusal);
        }
        if (KernelLimits.unpacks(node)) {
            return PackedStep.lower(node, context);
        }
        if (node.op() instanceof Claimable whole) {
            return switch (whole) {
                case PlainAttention op -> AttentionLowering.lower(op, node, context);
                case ResidualNorm op -> NormLowering.lower(op, node, context);
            };
        }
        return node.op() instanceof Primitive primitive ? lower(primitive, node, context) : unsupported(node);
    }

    private static Lowered lower(Primitive primitive, Node node, GpuLoweringContext context) {
        return switch (primitive) {
            case GroupedMatMul _, Conv _, ConvTranspose _ -> unsupported(node);
            case InUnits op -> lower(op, node, context);
            case Lstm op -> RecurrentLowering.lower(op, node, context);
            case Gru op -> RecurrentLowering.lower(op, node, context);
            case Rnn op -> RecurrentLowering.lower(op, node, context);
            case MatMulInteger op -> IntegerMatMul.lower(op, node, context);
            case Quantize op -> QuantisationLowering.lower(op, node, context);
            case Dequantize op -> QuantisationLowering.lower(op, node, context);
            case DynamicQuantize op -> QuantisationLowering.lower(op, node, context);
            case MatMul op -> MatMulLowering.lower(op, node, context);
            case Reshape _, BitCast _ -> throw new IllegalStateException(node + " is a view and has no step");
            case Attention op -> AttentionLowering.lower(op, node, context);
            case Elementwise _, Region _ -> ElementwiseLowering.lower(node, context);
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
            case ArgReduce op -> ArgReduceLowering.lower(op, node, context);
            case Cumulative op -> CumulativeLowering.lower(op, node, context);
            case TopK op -> TopKLowering.lower(op, node, context);
            case Gather op -> GatherLowering.lower(op, node, context);
            case GatherElements op -> GatherLowering.lower(op, node, context);
            case GatherNd op -> TupleLowering.lower(op, node, context);
            case ScatterElements op -> ScatterLowering.lower(op, node, context);
            case ScatterNd op -> ScatterLowering.lower(op, node, context);
            case OneHot op -> TupleLowering.lower(op, node, context);
            case Pad op -> PadLowering.lower(op, node, context);
            case Trilu op -> PadLowering.lower(op, node, context);
            case Resize op -> ResizeLowering.lower(op, node, context);
            case InstanceNorm op -> ChannelNormLowering.lower(op, node, context);
            case LocalResponseNorm op -> ChannelNormLowering.lower(op, node, context);
            case Rope op -> RopeLowering.lower(op, node, context);
            case ConvInteger op -> ConvIntegerLowering.lower(op, node, context);
            case Pool op -> PoolLowering.lower(op, node, context);
            case MaxPoolIndices op -> PoolLowering.lower(op, node, context);
        };
    }

    private static Lowered lower(InUnits units, Node node, GpuLoweringContext context) {
        return switch (units) {
            case NonZeroIndices op -> SearchLowering.lower(op, node, context);
            case UniqueIndices op -> UniqueLowering.lower(op, node, context);
            case BoxSelection op -> SearchLowering.lower(op, node, context);
            case GridSample op -> SampleLowering.lower(op, node, context);
            case RoiAlign op -> SampleLowering.lower(op, node, context);
            case MaxRoiPool op -> SampleLowering.lower(op, node, context);
            case DeformColumns op -> SampleLowering.lower(op, node, context);
            case Dft op -> DftLowering.lower(op, node, context);
            case DecodeBlocks op -> PackedMatMul.lower(op, node, context);
            case DequantMatMul op -> PackedMatMul.lower(op, node, context);
            case SelectiveScan op -> ScanLowering.lower(op, node, context);
            case GatedDeltaNet op -> ScanLowering.lower(op, node, context);
            case Random op -> RandomLowering.lower(op, node, context);
            case Sample op -> RandomLowering.lower(op, node, context);
        };
    }

    /**
     * A step of the CPU backend in the place of a kernel that is not there.
     *
     * @throws UnsupportedException where that does not run the node either
     */
    public static GpuStep onHost(Node node, GpuLoweringContext context, String reason) {
        return HostStep.of(node, context, reason);
    }

    /** Whether a node is run whole: see {@link dev.tenon.core.backend.Backend#claims}. */
    public static boolean claims(Node whole) {
        if (!(whole.op() instanceof Claimable claimable)) {
            return false;
        }
        return switch (claimable) {
            case PlainAttention op -> claims(op, whole);
            case ResidualNorm op -> NormLowering.claims(op, whole);
        };
    }

    private static boolean claims(PlainAttention op, Node whole) {
        Dim key = whole.input(0).shape().dim(op.packed() ? 4 : 3);
        Dim value = op.packed() ? key : whole.input(2).shape().dim(3);
        return key.isFixed()
                && value.isFixed()
                && SizeMath.sum("attention", key.size(), value.size()) <= MOST_HEAD_ELEMENTS;
    }

    private static NoKernel unsupported(Node node) {
        return new NoKernel("the CUDA backend has no kernel yet for "
                + node.op().mnemonic()
                + node.inputs().stream().map(input -> " " + input.type()).collect(Collectors.joining()));
    }
}
