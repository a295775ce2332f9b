package dev.tenon.cpu.plan;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.ir.op.elementwise.Region;
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
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.cpu.attention.AttentionLowering;
import dev.tenon.cpu.convolution.ConvLowering;
import dev.tenon.cpu.elementwise.ElementwiseLowering;
import dev.tenon.cpu.image.ResizeLowering;
import dev.tenon.cpu.indexing.GatherLowering;
import dev.tenon.cpu.indexing.ScatterLowering;
import dev.tenon.cpu.matmul.MatMulLowering;
import dev.tenon.cpu.movement.MovementLowering;
import dev.tenon.cpu.norm.NormLowering;
import dev.tenon.cpu.pooling.PoolLowering;
import dev.tenon.cpu.quantisation.QuantisationLowering;
import dev.tenon.cpu.recurrent.RecurrentLowering;
import dev.tenon.cpu.reduce.ReductionLowering;
import dev.tenon.cpu.reduce.SelectionLowering;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.UnitStep;

/** Chooses the lowering of each primitive; the bodies live in a file a family. */
public final class CpuLowering {
    private CpuLowering() {}

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        if (!(node.op() instanceof Primitive primitive)) {
            throw new UnsupportedException(
                    "the CPU backend runs primitives only, got " + node.op().mnemonic());
        }
        return switch (primitive) {
            case Elementwise _, Region _ -> ElementwiseLowering.lower(node, context);
            case Copy op -> MovementLowering.lower(op, node, context);
            case Transpose op -> MovementLowering.lower(op, node, context);
            case Slice op -> MovementLowering.lower(op, node, context);
            case Concat op -> MovementLowering.lower(op, node, context);
            case Expand op -> MovementLowering.lower(op, node, context);
            case Pad op -> MovementLowering.lower(op, node, context);
            case Trilu op -> MovementLowering.lower(op, node, context);
            case MatMul op -> MatMulLowering.lower(op, node, context);
            case GroupedMatMul op -> MatMulLowering.lower(op, node, context);
            case MatMulInteger op -> MatMulLowering.lower(op, node, context);
            case Conv op -> ConvLowering.lower(op, node, context);
            case ConvTranspose op -> ConvLowering.lower(op, node, context);
            case ConvInteger op -> ConvLowering.lower(op, node, context);
            case Pool op -> PoolLowering.lower(op, node, context);
            case MaxPoolIndices op -> PoolLowering.lower(op, node, context);
            case Resize op -> ResizeLowering.lower(op, node, context);
            case Softmax op -> NormLowering.lower(op, node, context);
            case LogSoftmax op -> NormLowering.lower(op, node, context);
            case LayerNorm op -> NormLowering.lower(op, node, context);
            case RmsNorm op -> NormLowering.lower(op, node, context);
            case InstanceNorm op -> NormLowering.lower(op, node, context);
            case LocalResponseNorm op -> NormLowering.lower(op, node, context);
            case Reduce op -> ReductionLowering.lower(op, node, context);
            case ArgReduce op -> SelectionLowering.lower(op, node, context);
            case Cumulative op -> SelectionLowering.lower(op, node, context);
            case TopK op -> SelectionLowering.lower(op, node, context);
            case Gather op -> GatherLowering.lower(op, node, context);
            case GatherElements op -> GatherLowering.lower(op, node, context);
            case GatherNd op -> GatherLowering.lower(op, node, context);
            case OneHot op -> GatherLowering.lower(op, node, context);
            case ScatterElements op -> ScatterLowering.lower(op, node, context);
            case ScatterNd op -> ScatterLowering.lower(op, node, context);
            case Attention op -> AttentionLowering.lower(op, node, context);
            case Rope op -> AttentionLowering.lower(op, node, context);
            case Lstm op -> RecurrentLowering.lower(op, node, context);
            case Gru op -> RecurrentLowering.lower(op, node, context);
            case Rnn op -> RecurrentLowering.lower(op, node, context);
            case Quantize op -> QuantisationLowering.lower(op, node, context);
            case Dequantize op -> QuantisationLowering.lower(op, node, context);
            case DynamicQuantize op -> QuantisationLowering.lower(op, node, context);
            case InUnits op -> UnitStep.lower(op, node, context);
            case Reshape _, BitCast _ -> throw new IllegalStateException(node + " is a view and has no step");
        };
    }
}
