package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Einsum;
import dev.tenon.core.ir.op.contraction.MatMul;

/**
 * Adds matrix products, sums by index letters, and convolutions, of one float type (matrix products and einsum: of any
 * number type).
 */
public interface ContractionOps extends OpBuilder {
    /** Adds the matrix product of the last two axes; the axes before them broadcast. */
    default Value matmul(Value a, Value b) {
        return add(MatMul.plain(), Words.operands("matmul", "a b", a, b));
    }

    /** Adds a sum of products by index letters, as numpy's einsum: {@code einsum("bij,bjk->bik", x, y)}. */
    default Value einsum(String equation, Value... operands) {
        Words.option("einsum", "equation", equation);
        Value[] all = Words.named("einsum", () -> Require.elements(operands, "operands"));
        return add(Words.named("einsum", () -> new Einsum(equation)), all);
    }

    /** Adds a convolution. [x [B,C,...], w [O,C/groups,...]] → [B,O,...]. */
    default Value conv(Value x, Value w, ConvOptions options) {
        return ContractionWords.conv(this, options, Words.operands("conv", "x w", x, w));
    }

    /** Adds a convolution with a bias [O]. */
    default Value conv(Value x, Value w, Value bias, ConvOptions options) {
        return ContractionWords.conv(this, options, Words.operands("conv", "x w bias", x, w, bias));
    }

    /** Adds a transposed convolution. [x [B,C,...], w [C,O/groups,...]] → [B,O,...]. */
    default Value convTranspose(Value x, Value w, ConvOptions options) {
        return ContractionWords.convTranspose(this, options, Words.operands("conv_transpose", "x w", x, w));
    }

    /** Adds a transposed convolution with a bias [O]. */
    default Value convTranspose(Value x, Value w, Value bias, ConvOptions options) {
        return ContractionWords.convTranspose(this, options, Words.operands("conv_transpose", "x w bias", x, w, bias));
    }
}
