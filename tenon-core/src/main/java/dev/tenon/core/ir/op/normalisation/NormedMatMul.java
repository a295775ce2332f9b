package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * The norm of a matrix product's rows, with the product's bias and residual, which is what ends a block of an encoder
 * that normalises behind its additions.
 *
 * <p>[the product's inputs, scale, bias?] → [norm], all of one float type. A {@link RmsNorm} over the last dim, or a
 * {@link LayerNorm} where {@code centred}, which alone has a bias; scale and bias as there.
 */
public record NormedMatMul(MatMul product, boolean centred, double epsilon) implements Claimable {
    private static final String NAME = "normed_mat_mul";

    public NormedMatMul {
        Normalisation.epsilon(NAME, epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(products() + (centred ? 2 : 1));
    }

    /** How many inputs are the product's. */
    public int products() {
        return 2 + product.epilogue().inputs();
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = Rules.sameFloat(NAME, inputs);
        product.dtypes(inputs.subList(0, products()));
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape rows = product.shapes(inputs.subList(0, products())).getFirst();
        List<Shape> operands = new ArrayList<>(List.of(rows));
        operands.addAll(inputs.subList(products(), inputs.size()));
        return List.of(Normalisation.shape(NAME, rows.rank() - 1, operands));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value rows = g.addAll(product, inputs.subList(0, products())).getFirst();
        int axis = rows.shape().rank() - 1;
        Value scale = inputs.get(products());
        return List.of(
                centred
                        ? g.add(new LayerNorm(axis, epsilon, true, true), rows, scale, inputs.getLast())
                        : g.add(new RmsNorm(axis, epsilon, true), rows, scale));
    }
}
