package dev.tenon.cuda.lower;

import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.ir.op.custom.Custom;
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
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
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
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.lower.attention.GpuAttentionLowering;
import dev.tenon.cuda.lower.attention.GpuProjectedLowering;
import dev.tenon.cuda.lower.attention.GpuRaggedLowering;
import dev.tenon.cuda.lower.attention.GpuRopeLowering;
import dev.tenon.cuda.lower.convolution.GpuConvLowering;
import dev.tenon.cuda.lower.custom.GpuCustomLowering;
import dev.tenon.cuda.lower.elementwise.GpuElementwiseLowering;
import dev.tenon.cuda.lower.elementwise.GpuGatedLowering;
import dev.tenon.cuda.lower.indexing.GpuGatherLowering;
import dev.tenon.cuda.lower.indexing.GpuScatterLowering;
import dev.tenon.cuda.lower.indexing.GpuTupleLowering;
import dev.tenon.cuda.lower.matmul.GpuGroupedMatMulLowering;
import dev.tenon.cuda.lower.matmul.GpuMatMulLowering;
import dev.tenon.cuda.lower.matmul.GpuNormedProductLowering;
import dev.tenon.cuda.lower.matmul.GpuPrologueLowering;
import dev.tenon.cuda.lower.matmul.IntegerMatMul;
import dev.tenon.cuda.lower.matmul.PackedMatMul;
import dev.tenon.cuda.lower.matmul.ScaledProducts;
import dev.tenon.cuda.lower.movement.GpuMovementLowering;
import dev.tenon.cuda.lower.movement.GpuPadLowering;
import dev.tenon.cuda.lower.norm.GpuChannelNormLowering;
import dev.tenon.cuda.lower.norm.GpuEmbeddingLowering;
import dev.tenon.cuda.lower.norm.GpuLastNormLowering;
import dev.tenon.cuda.lower.norm.GpuNormLowering;
import dev.tenon.cuda.lower.norm.GpuRowRegionLowering;
import dev.tenon.cuda.lower.quantisation.GpuQuantisationLowering;
import dev.tenon.cuda.lower.random.GpuRandomLowering;
import dev.tenon.cuda.lower.reduce.GpuArgReduceLowering;
import dev.tenon.cuda.lower.reduce.GpuCumulativeLowering;
import dev.tenon.cuda.lower.reduce.GpuReductionLowering;
import dev.tenon.cuda.lower.searching.GpuSearchLowering;
import dev.tenon.cuda.lower.searching.GpuUniqueLowering;
import dev.tenon.cuda.lower.signal.GpuDftLowering;
import dev.tenon.cuda.lower.sorting.GpuTopKLowering;
import dev.tenon.cuda.lower.state.GpuRecurrentLowering;
import dev.tenon.cuda.lower.state.GpuScanLowering;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.window.GpuConvIntegerLowering;
import dev.tenon.cuda.lower.window.GpuPoolLowering;
import dev.tenon.cuda.lower.window.GpuResizeLowering;
import dev.tenon.cuda.lower.window.GpuSampleLowering;
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
                case PlainAttention op -> GpuAttentionLowering.lower(op, node, context);
                case ProjectedAttention op -> lower(op, node, context);
                case ResidualNorm op -> GpuNormLowering.lower(op, node, context);
                case NormedMatMul op -> lower(op, node, context);
                case PrologueMatMul op -> lower(op, node, context);
                case EmbeddingNorm op -> GpuEmbeddingLowering.lower(op, node, context);
                case RowRegion op -> lower(op, node, context);
                case GatedUnit op -> GpuGatedLowering.lower(op, node, context);
                case ChannelsLastConv op -> GpuConvLowering.lower(op, node, context);
                case ChannelsLastNorm op -> GpuLastNormLowering.lower(op, node, context);
            };
        }
        return node.op() instanceof Primitive primitive ? lower(primitive, node, context) : unsupported(node);
    }

    private static Lowered lower(RowRegion op, Node node, GpuLoweringContext context) {
        String refusal = GpuRowRegionLowering.refusal(op, node, context);
        return refusal.isEmpty()
                ? GpuRowRegionLowering.lower(op, node, context)
                : PartsStep.lower(op, node, context, "row_fused: " + refusal, GpuElementwiseLowering::fault);
    }

    private static Lowered lower(NormedMatMul op, Node node, GpuLoweringContext context) {
        String refusal = GpuNormedProductLowering.refusal(op, node, context);
        return refusal.isEmpty()
                ? GpuNormedProductLowering.lower(op, node, context)
                : PartsStep.lower(op, node, context, "matmul_norm: " + refusal, GpuStep::noResult);
    }

    private static Lowered lower(ProjectedAttention op, Node node, GpuLoweringContext context) {
        String refusal = GpuProjectedLowering.refusal(op, node, context);
        return refusal.isEmpty()
                ? GpuProjectedLowering.lower(op, node, context)
                : PartsStep.lower(op, node, context, "matmul_attention: " + refusal, GpuStep::noResult);
    }

    private static Lowered lower(PrologueMatMul op, Node node, GpuLoweringContext context) {
        String refusal = GpuPrologueLowering.refusal(op, node, context);
        return refusal.isEmpty()
                ? GpuPrologueLowering.lower(op, node, context)
                : PartsStep.lower(op, node, context, "prologue: " + refusal, GpuStep::noResult);
    }

    private static Lowered lower(Primitive primitive, Node node, GpuLoweringContext context) {
        return switch (primitive) {
            case GroupedMatMul _ -> GpuGroupedMatMulLowering.lower(node, context);
            case Custom op -> GpuCustomLowering.lower(op, node, context);
            case Conv op -> GpuConvLowering.lower(op, node, context);
            case ConvTranspose op -> GpuConvLowering.lower(op, node, context);
            case InUnits op -> lower(op, node, context);
            case Lstm op -> GpuRecurrentLowering.lower(op, node, context);
            case Gru op -> GpuRecurrentLowering.lower(op, node, context);
            case Rnn op -> GpuRecurrentLowering.lower(op, node, context);
            case MatMulInteger op -> IntegerMatMul.lower(op, node, context);
            case Quantize op -> GpuQuantisationLowering.lower(op, node, context);
            case Dequantize op -> GpuQuantisationLowering.lower(op, node, context);
            case DynamicQuantize op -> GpuQuantisationLowering.lower(op, node, context);
            case MatMul op -> GpuMatMulLowering.lower(op, node, context);
            case Reshape _, BitCast _ -> throw new IllegalStateException(node + " is a view and has no step");
            case Attention op -> GpuAttentionLowering.lower(op, node, context);
            case Elementwise _, Region _ -> GpuElementwiseLowering.lower(node, context);
            case Softmax op -> GpuNormLowering.lower(op, node, context);
            case LogSoftmax op -> GpuNormLowering.lower(op, node, context);
            case LayerNorm op -> GpuNormLowering.lower(op, node, context);
            case RmsNorm op -> GpuNormLowering.lower(op, node, context);
            case Copy op -> GpuMovementLowering.lower(op, node, context);
            case Transpose op -> GpuMovementLowering.lower(op, node, context);
            case Slice op -> GpuMovementLowering.lower(op, node, context);
            case Concat op -> GpuMovementLowering.lower(op, node, context);
            case Expand op -> GpuMovementLowering.lower(op, node, context);
            case Reduce op -> GpuReductionLowering.lower(op, node, context);
            case ArgReduce op -> GpuArgReduceLowering.lower(op, node, context);
            case Cumulative op -> GpuCumulativeLowering.lower(op, node, context);
            case TopK op -> GpuTopKLowering.lower(op, node, context);
            case Gather op -> GpuGatherLowering.lower(op, node, context);
            case GatherElements op -> GpuGatherLowering.lower(op, node, context);
            case GatherNd op -> GpuTupleLowering.lower(op, node, context);
            case ScatterElements op -> GpuScatterLowering.lower(op, node, context);
            case ScatterNd op -> GpuScatterLowering.lower(op, node, context);
            case OneHot op -> GpuTupleLowering.lower(op, node, context);
            case Pad op -> GpuPadLowering.lower(op, node, context);
            case Trilu op -> GpuPadLowering.lower(op, node, context);
            case Resize op -> GpuResizeLowering.lower(op, node, context);
            case InstanceNorm op -> GpuChannelNormLowering.lower(op, node, context);
            case LocalResponseNorm op -> GpuChannelNormLowering.lower(op, node, context);
            case Rope op -> GpuRopeLowering.lower(op, node, context);
            case ConvInteger op -> GpuConvIntegerLowering.lower(op, node, context);
            case Pool op -> GpuPoolLowering.lower(op, node, context);
            case MaxPoolIndices op -> GpuPoolLowering.lower(op, node, context);
        };
    }

    private static Lowered lower(InUnits units, Node node, GpuLoweringContext context) {
        return switch (units) {
            case NonZeroIndices op -> GpuSearchLowering.lower(op, node, context);
            case UniqueIndices op -> GpuUniqueLowering.lower(op, node, context);
            case BoxSelection op -> GpuSearchLowering.lower(op, node, context);
            case GridSample op -> GpuSampleLowering.lower(op, node, context);
            case RoiAlign op -> GpuSampleLowering.lower(op, node, context);
            case MaxRoiPool op -> GpuSampleLowering.lower(op, node, context);
            case DeformColumns op -> GpuSampleLowering.lower(op, node, context);
            case Dft op -> GpuDftLowering.lower(op, node, context);
            case DecodeBlocks op -> PackedMatMul.lower(op, node, context);
            case ScaledMatMul op -> ScaledProducts.lower(op, node, context);
            case DequantMatMul op -> PackedMatMul.lower(op, node, context);
            case RaggedAttention op -> GpuRaggedLowering.lower(op, node, context);
            case SelectiveScan op -> GpuScanLowering.lower(op, node, context);
            case GatedDeltaNet op -> GpuScanLowering.lower(op, node, context);
            case Random op -> GpuRandomLowering.lower(op, node, context);
            case Sample op -> GpuRandomLowering.lower(op, node, context);
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
    public static boolean claims(Node whole, Precision precision) {
        if (!(whole.op() instanceof Claimable claimable)) {
            return whole.op() instanceof Rope; // one launch for six
        }
        return switch (claimable) {
            case PlainAttention op -> claims(op, whole);
            case ProjectedAttention op -> GpuProjectedLowering.claims(op, whole);
            case ResidualNorm op -> GpuNormLowering.claims(op, whole);
            case NormedMatMul op -> GpuNormedProductLowering.claims(op, whole, precision);
            case PrologueMatMul op -> GpuPrologueLowering.claims(op, whole);
            case EmbeddingNorm op -> GpuEmbeddingLowering.claims(op, whole);
            case RowRegion op -> GpuRowRegionLowering.claims(op, whole);
            case GatedUnit _ -> GpuGatedLowering.claims(whole);
            case ChannelsLastConv op -> GpuConvLowering.claims(op, whole, precision);
            case ChannelsLastNorm _ -> GpuLastNormLowering.claims(whole);
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
