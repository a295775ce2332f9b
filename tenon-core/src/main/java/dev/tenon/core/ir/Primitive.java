package dev.tenon.core.ir;

import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.custom.Custom;
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
import java.util.List;

/**
 * An operation that backends run. A backend's lowering is a switch over these without a default, so the compiler names
 * every place that a new one must be handled; those {@link InUnits} may have a switch of their own.
 */
public sealed interface Primitive extends Op
        permits Elementwise,
                BitCast,
                Copy,
                Region,
                MatMul,
                GroupedMatMul,
                MatMulInteger,
                Conv,
                ConvTranspose,
                ConvInteger,
                Pool,
                MaxPoolIndices,
                Resize,
                Pad,
                Softmax,
                LogSoftmax,
                LayerNorm,
                RmsNorm,
                InstanceNorm,
                LocalResponseNorm,
                Reduce,
                ArgReduce,
                Cumulative,
                TopK,
                Reshape,
                Transpose,
                Slice,
                Concat,
                Expand,
                Gather,
                GatherElements,
                GatherNd,
                ScatterElements,
                ScatterNd,
                Trilu,
                OneHot,
                Attention,
                Rope,
                Lstm,
                Gru,
                Rnn,
                Quantize,
                Dequantize,
                DynamicQuantize,
                Custom,
                InUnits {
    /**
     * The reference: float64 for floats, exact integers, of concrete inputs whose types the rules have accepted.
     *
     * @throws dev.tenon.core.error.DataException for values that have no result
     */
    List<NdArray> evaluate(List<NdArray> inputs);
}
