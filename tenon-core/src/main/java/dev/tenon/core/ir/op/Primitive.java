package dev.tenon.core.ir.op;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import java.util.List;

/** An operation that backends run. A backend's lowering is a switch over these without a default, so the compiler names every place that a new one must be handled; those {@link InUnits} it may handle as one. */
public sealed interface Primitive extends Op
        permits Unary,
                Binary,
                Compare,
                Where,
                Cast,
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
                InUnits {
    /**
     * The reference: float64 for floats, exact integers, of concrete inputs whose types the rules have accepted.
     *
     * @throws dev.tenon.core.error.DataException for values that have no result
     */
    List<NdArray> evaluate(List<NdArray> inputs);
}
