package dev.tenon.cpu;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Node;
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
import dev.tenon.core.ir.op.Pool;
import dev.tenon.core.ir.op.Primitive;
import dev.tenon.core.ir.op.Quantize;
import dev.tenon.core.ir.op.Reduce;
import dev.tenon.core.ir.op.Region;
import dev.tenon.core.ir.op.Reshape;
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

/** Chooses the lowering of each primitive; the bodies live in a file a family. */
final class CpuLowering {
    private CpuLowering() {}

    static Step lower(Node node, LoweringContext context) {
        if (!(node.op() instanceof Primitive primitive)) {
            throw new UnsupportedException(
                    "the CPU backend runs primitives only, got " + node.op().mnemonic());
        }
        return switch (primitive) {
            case Unary _, Binary _, Compare _, Where _, Cast _, Region _ -> ElementwiseLowering.lower(node, context);
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
