package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import org.jspecify.annotations.Nullable;

/**
 * How {@code gemv} makes the rows that it multiplies.
 *
 * @param kind as {@code prologue.cuh} counts them
 * @param word what is made of rows, for reports; empty for nothing
 * @param scale the slot of a norm's scale; -1 for none
 * @param shift the slot of a norm's bias; -1 for none
 * @param epsilon of a norm
 * @param function of elements; null for none
 * @param unit 0 where the function is all, 1 for a gated unit, 2 where the function is of the second half
 */
record GemvPrologue(
        int kind,
        String word,
        int scale,
        int shift,
        double epsilon,
        @Nullable Unary function,
        int unit) {
    static final GemvPrologue NONE = new GemvPrologue(0, "", -1, -1, 0, null, 0);

    private static final int RMS_NORM = 1;
    private static final int LAYER_NORM = 2;
    private static final int FUNCTION = 3;

    static GemvPrologue of(PrologueMatMul op, Node node, GpuLoweringContext context) {
        String word = op.prologue().mnemonic();
        return switch (op.prologue()) {
            case RmsNorm norm ->
                new GemvPrologue(
                        RMS_NORM, word, norm.scale() ? context.slot(node.input(1)) : -1, -1, norm.epsilon(), null, 0);
            case LayerNorm norm ->
                new GemvPrologue(
                        LAYER_NORM,
                        word,
                        norm.scale() ? context.slot(node.input(1)) : -1,
                        norm.bias() ? context.slot(node.input(op.prologues() - 1)) : -1,
                        norm.epsilon(),
                        null,
                        0);
            case GatedUnit gate ->
                new GemvPrologue(
                        FUNCTION,
                        word + " of " + gate.activation().fn().word(),
                        -1,
                        -1,
                        0,
                        gate.activation(),
                        gate.second() ? 2 : 1);
            case Unary function -> new GemvPrologue(FUNCTION, function.fn().word(), -1, -1, 0, function, 0);
            default -> throw new IllegalStateException(op + " has no such prologue");
        };
    }

    boolean isNone() {
        return kind == 0;
    }

    /** The function of the kernel's variant; null where rows are no function of elements. */
    @Nullable
    UnaryFn fn() {
        return function == null ? null : function.fn();
    }
}
