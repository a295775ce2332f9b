package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.ir.op.quantisation.DynamicQuantize;
import dev.tenon.core.ir.op.quantisation.Quantize;
import java.util.ArrayList;
import java.util.List;

/** Quantising, and products of quantised values. */
final class QuantisationMapping {
    private QuantisationMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "QuantizeLinear" -> List.of(quantize(n));
            case "DequantizeLinear" -> List.of(dequantize(n));
            case "DynamicQuantizeLinear" -> n.addAll(new DynamicQuantize(), List.of(n.in(0)));
            case "MatMulInteger" -> List.of(matMulInteger(n));
            case "QLinearMatMul" -> List.of(qlinearMatMul(n));
            case "QLinearConv" -> List.of(qlinearConv(n));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    /**
     * A scale or zero point of one element is a scalar, whatever shape the exporter gave it; others have a row or a
     * column each.
     */
    private static Value parameter(NodeContext n, Value value) {
        boolean single = value.shape().isRanked()
                && value.shape().rank() > 0
                && value.shape().isConcrete()
                && value.shape().elements() == 1;
        return single ? n.reshape(value) : value;
    }

    private static int axis(NodeContext n, Value x, Value scale) {
        boolean whole = scale.shape().isRanked() && scale.shape().rank() == 0;
        return whole ? 0 : n.axis(x, n.attrInt("axis", 1));
    }

    private static Value quantize(NodeContext n) {
        Value x = n.in(0);
        long block = n.attrInt("block_size", 0);
        Value scale = n.in(1);
        boolean shifted = n.has(2);
        DType to = shifted ? n.in(2).dtype() : outputType(n, DType.U8);
        if (!n.attrFlag("saturate", true) && to.isFloat()) {
            throw n.error("quantisation to " + to + " without saturation is not supported");
        }
        Value wide = x.dtype().isFloat() ? x : n.cast(x, DType.F32);
        List<Value> operands = new ArrayList<>(List.of(wide, n.cast(scale, wide.dtype())));
        if (shifted) {
            operands.add(n.in(2));
        }
        return n.addAll(new Quantize(to, axis(n, x, scale), block, shifted), operands)
                .getFirst();
    }

    private static DType outputType(NodeContext n, DType absent) {
        // 0 is the specification's "not said"
        return n.attrInt("output_dtype", 0) == 0 ? absent : n.attrType("output_dtype");
    }

    private static Value dequantize(NodeContext n) {
        Value x = n.in(0);
        long block = n.attrInt("block_size", 0);
        Value scale = n.in(1);
        List<Value> operands = new ArrayList<>(List.of(x, scale));
        if (n.has(2)) {
            operands.add(n.in(2));
        }
        Value y = n.addAll(new Dequantize(axis(n, x, scale), block, n.has(2)), operands)
                .getFirst();
        return n.cast(y, outputType(n, y.dtype()));
    }

    private static Value matMulInteger(NodeContext n) {
        List<Value> operands = new ArrayList<>(List.of(n.in(0), n.in(1)));
        for (int i = 2; i < 4; i++) {
            if (n.has(i)) {
                operands.add(parameter(n, n.in(i)));
            }
        }
        return n.addAll(new MatMulInteger(n.has(2), n.has(3)), operands).getFirst();
    }

    /**
     * The integer product, scaled once by both scales and quantised: what the reference computes, without rounding
     * between.
     */
    private static Value qlinearMatMul(NodeContext n) {
        Value a = n.in(0);
        Value b = n.in(3);
        Value product = n.add(new MatMulInteger(true, true), a, b, parameter(n, n.in(2)), parameter(n, n.in(5)));
        Value scaleA = parameter(n, n.cast(n.in(1), DType.F32));
        if (scaleA.shape().isRanked() && scaleA.shape().rank() == 1) {
            scaleA = ShapeChanges.unsqueeze(n, scaleA, List.of(1L));
        }
        Value scale = n.mul(scaleA, parameter(n, n.cast(n.in(4), DType.F32)));
        return requantize(n, n.mul(n.cast(product, DType.F32), scale), n.in(6), n.in(7));
    }

    private static Value qlinearConv(NodeContext n) {
        Value x = n.in(0);
        Value weight = n.in(3);
        Value sums = ConvolutionMapping.convInteger(n, x, weight, List.of(n.in(2)), List.of(n.in(5)));
        int spatial = n.rank(x) - 2;
        if (n.has(8)) {
            sums = n.add(sums, byChannel(n, n.in(8), spatial));
        }
        Value weightScale = n.cast(n.in(4), DType.F32);
        Value scale = n.mul(
                n.cast(n.in(1), DType.F32),
                weightScale.shape().rank() == 0 ? weightScale : byChannel(n, weightScale, spatial));
        return requantize(n, n.mul(n.cast(sums, DType.F32), scale), n.in(6), n.in(7));
    }

    /** [O] as [O,1,1,...], so that it meets the channels of [B,O,...]. */
    private static Value byChannel(NodeContext n, Value value, int spatial) {
        List<Long> axes = new ArrayList<>();
        for (long i = 1; i <= spatial; i++) {
            axes.add(i);
        }
        return ShapeChanges.unsqueeze(n, value, axes);
    }

    private static Value requantize(NodeContext n, Value x, Value scale, Value zeroPoint) {
        Quantize op = new Quantize(zeroPoint.dtype(), 0, 0, true);
        return n.add(op, x, parameter(n, n.cast(scale, DType.F32)), parameter(n, zeroPoint));
    }
}
