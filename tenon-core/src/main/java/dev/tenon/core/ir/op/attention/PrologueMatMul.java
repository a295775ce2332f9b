package dev.tenon.core.ir.op.attention;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import java.util.ArrayList;
import java.util.List;

/**
 * A matrix product that makes its left operand while it reads that: the norm, the activation or the gated unit of rows.
 * Made by fusion.
 *
 * <p>[the prologue's inputs, the product's other inputs] → what the product gives. What the prologue makes is rounded
 * to its type.
 *
 * @param prologue a {@link RmsNorm}, {@link LayerNorm}, {@link GatedUnit} or {@link Unary}
 */
public record PrologueMatMul(Op prologue, MatMul product) implements Claimable {
    private static final String NAME = "prologue_mat_mul";

    public PrologueMatMul {
        if (!isPrologue(prologue)) {
            throw new ShapeException(NAME + ": " + prologue.mnemonic()
                    + " is no prologue; expected a norm, a gated unit or a function of each element");
        }
    }

    /** Whether a product may make its left operand by an operation. */
    public static boolean isPrologue(Op op) {
        return op instanceof RmsNorm || op instanceof LayerNorm || op instanceof GatedUnit || op instanceof Unary;
    }

    /** How many inputs are the prologue's. */
    public int prologues() {
        return prologue.arity().min();
    }

    @Override
    public Arity arity() {
        return Arity.exactly(prologues() + product.arity().min() - 1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return product.dtypes(operands(inputs, prologue.dtypes(inputs.subList(0, prologues()))));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return product.shapes(operands(inputs, prologue.shapes(inputs.subList(0, prologues()))));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        return g.addAll(product, operands(inputs, g.addAll(prologue, inputs.subList(0, prologues()))));
    }

    /** The product's inputs, given what the prologue made. */
    private <T> List<T> operands(List<T> inputs, List<T> made) {
        List<T> all = new ArrayList<>(made);
        all.addAll(inputs.subList(prologues(), inputs.size()));
        return all;
    }
}
