package dev.tenon.core.ir.op.quantisation;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;

/** What keeps a product with a dequantised weight from being a {@link ScaledMatMul}. */
public final class DequantizedWeight {
    private DequantizedWeight() {}

    /**
     * Why a product is not a {@link ScaledMatMul}.
     *
     * @param product any node
     * @return part of a sentence, {@code the weight is i16; it takes …}; empty where the product can be one, and for
     *     nodes that multiply no dequantised weight
     */
    public static String refusal(Node product) {
        if (!(product.op() instanceof MatMul op)
                || !(product.input(1).origin() instanceof Value.Origin.Result(Node weight, int _))
                || !(weight.op() instanceof Dequantize dequantize)) {
            return "";
        }
        String reason = reason(op, weight, dequantize);
        boolean plain = !op.transposeA() && op.epilogue().equals(Epilogue.NONE);
        return !reason.isEmpty() || plain ? reason : "the product transposes x or has an epilogue";
    }

    private static String reason(MatMul op, Node weight, Dequantize dequantize) {
        DType q = weight.input(0).dtype();
        Shape shape = weight.input(0).shape();
        if (q != DType.I8 && q != DType.U8 && q != DType.I4 && q != DType.U4) {
            return "the weight is " + q + "; it takes i8, u8, i4 and u4";
        }
        if (weight.inputs().stream().anyMatch(input -> input.constant() == null)) {
            return "the weight, its scale or its zero point is computed; it takes constants";
        }
        if (shape.rank() != 2) {
            return "the weight is " + shape + "; it takes matrices";
        }
        int along = op.transposeB() ? 1 : 0;
        boolean whole =
                weight.inputs().stream().skip(1).allMatch(input -> input.shape().elements() == 1);
        if (whole) {
            return "";
        }
        boolean sameShape = weight.inputs().stream()
                .skip(1)
                .map(Value::shape)
                .allMatch(other ->
                        other.elements() == 1 || other.equals(weight.input(1).shape()));
        if (!sameShape) {
            return "scale and zero point lie over the weight in different ways";
        }
        boolean fits = dequantize.block() > 0 ? dequantize.axis() == along : dequantize.axis() != along;
        return fits
                ? ""
                : "scales change " + (dequantize.block() > 0 ? "along the columns" : "with the summed index")
                        + "; it takes one for each column or for each block of it";
    }

    /** Whether a dequantised weight has a scale for each block of a row, rather than for a row or all of them. */
    public static boolean blocked(Node weight) {
        return weight.op() instanceof Dequantize dequantize
                && dequantize.block() > 0
                && weight.input(1).shape().elements() > 1;
    }

    /** The bits of a constant's first element. */
    public static long onlyElement(ConstantData data) {
        return switch (data) {
            case ConstantData.Dense dense -> Elements.bits(dense.type().dtype(), dense.segment(), 0);
            case ConstantData.Splat splat -> splat.element();
        };
    }
}
