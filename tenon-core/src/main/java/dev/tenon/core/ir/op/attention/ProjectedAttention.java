package dev.tenon.core.ir.op.attention;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/**
 * Attention to the heads of a matrix product, whose columns are all of q, then k, then v, and which nothing else reads.
 *
 * <p>[the product's inputs, mask?] → [y [B,L,H,D]], all of one float type; the product is [B,L,3HD]. The mask as
 * {@link PlainAttention} has it.
 *
 * @param product with its bias
 * @param attention packed
 * @param heads H
 */
public record ProjectedAttention(MatMul product, PlainAttention attention, long heads) implements Claimable {
    private static final String NAME = "projected_attention";
    private static final int PARTS = 3;

    public ProjectedAttention {
        long count = heads;
        Expect.shape(count > 0, NAME, () -> "heads need to be at least 1: " + count);
        Expect.shape(attention.packed(), NAME, () -> "q, k and v need to be one operand");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(products() + (attention.mask() ? 1 : 0));
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
        List<Shape> operands = new ArrayList<>();
        operands.add(parts(product.shapes(inputs.subList(0, products())).getFirst()));
        operands.addAll(inputs.subList(products(), inputs.size()));
        return attention.shapes(operands);
    }

    /** [B,L,3,H,D] of the product's [B,L,3HD]. */
    private Shape parts(Shape rows) {
        Rules.rank(NAME, "product", rows, 3);
        Dim columns = rows.dim(2);
        Expect.shape(
                !columns.isFixed() || columns.size() % (PARTS * heads) == 0,
                NAME,
                () -> columns + " columns are not q, k and v of " + heads + " heads");
        Dim size = columns.isFixed() ? Dim.of(columns.size() / (PARTS * heads)) : Dim.unknown();
        return Shape.of(rows.dim(0), rows.dim(1), Dim.of(PARTS), Dim.of(heads), size);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Value rows = g.addAll(product, inputs.subList(0, products())).getFirst();
        List<Value> operands = new ArrayList<>();
        operands.add(g.add(Reshape.to(parts(rows.shape()).sizes()), rows));
        operands.addAll(inputs.subList(products(), inputs.size()));
        return g.addAll(attention, operands);
    }
}
