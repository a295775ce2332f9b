package dev.tenon.cpu.plan;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Primitive;
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
import dev.tenon.cpu.attention.CpuAttentionLowering;
import dev.tenon.cpu.convolution.ChannelsLastLowering;
import dev.tenon.cpu.convolution.CpuConvLowering;
import dev.tenon.cpu.convolution.DeformColumnsStep;
import dev.tenon.cpu.elementwise.CpuElementwiseLowering;
import dev.tenon.cpu.image.CpuResizeLowering;
import dev.tenon.cpu.image.GridSampleStep;
import dev.tenon.cpu.indexing.CpuGatherLowering;
import dev.tenon.cpu.indexing.CpuScatterLowering;
import dev.tenon.cpu.matmul.CpuMatMulLowering;
import dev.tenon.cpu.movement.CpuMovementLowering;
import dev.tenon.cpu.norm.CpuNormLowering;
import dev.tenon.cpu.packed.DecodeStep;
import dev.tenon.cpu.packed.PackedRowStep;
import dev.tenon.cpu.packed.ScaledProductStep;
import dev.tenon.cpu.pooling.CpuPoolLowering;
import dev.tenon.cpu.quantisation.CpuQuantisationLowering;
import dev.tenon.cpu.random.RandomStep;
import dev.tenon.cpu.random.SampleStep;
import dev.tenon.cpu.recurrent.CpuRecurrentLowering;
import dev.tenon.cpu.recurrent.GatedDeltaNetStep;
import dev.tenon.cpu.recurrent.SelectiveScanStep;
import dev.tenon.cpu.reduce.CpuReductionLowering;
import dev.tenon.cpu.reduce.CpuSelectionLowering;
import dev.tenon.cpu.search.CpuSearchLowering;
import dev.tenon.cpu.signal.DftStep;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.HostBodyStep;

/** Chooses the lowering of each primitive; the bodies live in a file a family. */
public final class CpuLowering {
    private CpuLowering() {}

    /** Whether a node is run whole: see {@link dev.tenon.core.backend.Backend#claims}. */
    public static boolean claims(Node whole) {
        if (!(whole.op() instanceof Claimable claimable) || !mayClaim(claimable.getClass())) {
            return false;
        }
        return switch (claimable) {
            case ResidualNorm _,
                    NormedMatMul _,
                    ProjectedAttention _,
                    PrologueMatMul _,
                    EmbeddingNorm _,
                    RowRegion _,
                    GatedUnit _,
                    ChannelsLastNorm _ -> false;
            case PlainAttention op -> CpuAttentionLowering.claims(op, whole);
            case ChannelsLastConv op -> ChannelsLastLowering.claims(op, whole);
        };
    }

    /** Whether {@link #claims} may be true of a node of an operation of that kind. */
    public static boolean mayClaim(Class<? extends Op> kind) {
        return kind == PlainAttention.class || kind == ChannelsLastConv.class;
    }

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        if (node.op() instanceof ChannelsLastConv op) {
            return ChannelsLastLowering.lower(op, node, context);
        }
        if (node.op() instanceof PlainAttention op) {
            return CpuAttentionLowering.lower(op, node, context);
        }
        if (!(node.op() instanceof Primitive primitive)) {
            throw new UnsupportedException("the CPU backend runs primitives and what it claims, got "
                    + node.op().mnemonic());
        }
        return switch (primitive) {
            case Elementwise _, Region _ -> CpuElementwiseLowering.lower(node, context);
            case Copy op -> CpuMovementLowering.lower(op, node, context);
            case Transpose op -> CpuMovementLowering.lower(op, node, context);
            case Slice op -> CpuMovementLowering.lower(op, node, context);
            case Concat op -> CpuMovementLowering.lower(op, node, context);
            case Expand op -> CpuMovementLowering.lower(op, node, context);
            case Pad op -> CpuMovementLowering.lower(op, node, context);
            case Trilu op -> CpuMovementLowering.lower(op, node, context);
            case MatMul op -> CpuMatMulLowering.lower(op, node, context);
            case GroupedMatMul op -> CpuMatMulLowering.lower(op, node, context);
            case MatMulInteger op -> CpuMatMulLowering.lower(op, node, context);
            case Conv op -> CpuConvLowering.lower(op, node, context);
            case ConvTranspose op -> CpuConvLowering.lower(op, node, context);
            case ConvInteger op -> CpuConvLowering.lower(op, node, context);
            case Pool op -> CpuPoolLowering.lower(op, node, context);
            case MaxPoolIndices op -> CpuPoolLowering.lower(op, node, context);
            case Resize op -> CpuResizeLowering.lower(op, node, context);
            case Softmax op -> CpuNormLowering.lower(op, node, context);
            case LogSoftmax op -> CpuNormLowering.lower(op, node, context);
            case LayerNorm op -> CpuNormLowering.lower(op, node, context);
            case RmsNorm op -> CpuNormLowering.lower(op, node, context);
            case InstanceNorm op -> CpuNormLowering.lower(op, node, context);
            case LocalResponseNorm op -> CpuNormLowering.lower(op, node, context);
            case Reduce op -> CpuReductionLowering.lower(op, node, context);
            case ArgReduce op -> CpuSelectionLowering.lower(op, node, context);
            case Cumulative op -> CpuSelectionLowering.lower(op, node, context);
            case TopK op -> CpuSelectionLowering.lower(op, node, context);
            case Gather op -> CpuGatherLowering.lower(op, node, context);
            case GatherElements op -> CpuGatherLowering.lower(op, node, context);
            case GatherNd op -> CpuGatherLowering.lower(op, node, context);
            case OneHot op -> CpuGatherLowering.lower(op, node, context);
            case ScatterElements op -> CpuScatterLowering.lower(op, node, context);
            case ScatterNd op -> CpuScatterLowering.lower(op, node, context);
            case Attention op -> CpuAttentionLowering.lower(op, node, context);
            case Rope op -> CpuAttentionLowering.lower(op, node, context);
            case Lstm op -> CpuRecurrentLowering.lower(op, node, context);
            case Gru op -> CpuRecurrentLowering.lower(op, node, context);
            case Rnn op -> CpuRecurrentLowering.lower(op, node, context);
            case Quantize op -> CpuQuantisationLowering.lower(op, node, context);
            case Dequantize op -> CpuQuantisationLowering.lower(op, node, context);
            case DynamicQuantize op -> CpuQuantisationLowering.lower(op, node, context);
            case Custom op -> HostBodyStep.lower(op, node, context);
            case DequantMatMul op -> PackedRowStep.lower(op, node, context);
            case DecodeBlocks op -> DecodeStep.lower(op, node, context);
            case ScaledMatMul op -> ScaledProductStep.lower(op, node, context);
            case GridSample op -> GridSampleStep.lower(op, node, context);
            case SelectiveScan op -> SelectiveScanStep.lower(op, node, context);
            case NonZeroIndices _ -> CpuSearchLowering.nonZero(node, context);
            case UniqueIndices op -> CpuSearchLowering.lower(op, node, context);
            case BoxSelection op -> CpuSearchLowering.lower(op, node, context);
            case RoiAlign op -> CpuPoolLowering.lower(op, node, context);
            case MaxRoiPool op -> CpuPoolLowering.lower(op, node, context);
            case Random op -> RandomStep.lower(op, node, context);
            case Sample _ -> SampleStep.lower(node, context);
            case Dft op -> DftStep.lower(op, node, context);
            case GatedDeltaNet op -> GatedDeltaNetStep.lower(op, node, context);
            case RaggedAttention op -> CpuAttentionLowering.lower(op, node, context);
            case DeformColumns op -> DeformColumnsStep.lower(op, node, context);
            case Reshape _, BitCast _ -> throw new IllegalStateException(node + " is a view and has no step");
        };
    }
}
