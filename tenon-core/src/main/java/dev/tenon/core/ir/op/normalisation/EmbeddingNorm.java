package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The LayerNorm of a sum of embeddings, which is what an encoder begins with: rows of tables, named by indices, and a
 * summand that is broadcast to them.
 *
 * <p>[(table [rows, cols], indices i32 or i64) for each of {@code tables}, summand? , scale [cols], bias [cols]] → [y
 * of indices.shape + cols] of the type of scale; tables and summand are of that type or f32. Sums are not rounded.
 * Indices as in {@link Gather}, all of one shape.
 *
 * @param tables at least 1
 * @param summand whether there is one
 */
public record EmbeddingNorm(int tables, boolean summand, double epsilon) implements Claimable {
    private static final String NAME = "embedding_norm";

    public EmbeddingNorm {
        if (tables < 1) {
            throw new ShapeException(NAME + ": has " + tables + " tables; expected 1 or more");
        }
        Normalisation.epsilon(NAME, epsilon);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 * tables + (summand ? 1 : 0) + 2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        int parameters = inputs.size() - 2;
        DType dtype = Rules.sameFloat(mnemonic(), inputs.subList(parameters, inputs.size()));
        for (int i = 0; i < parameters; i++) {
            DType one = inputs.get(i);
            if (i < 2 * tables && i % 2 == 1) {
                Rules.indices(mnemonic(), one);
            } else if (one != dtype && one != DType.F32) {
                throw new DTypeException(mnemonic() + ": a summand is " + one + "; expected " + dtype + " or f32");
            }
        }
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape y = null;
        for (int i = 0; i < tables; i++) {
            Shape table = inputs.get(2 * i);
            Rules.rank(mnemonic(), "table", table, 2);
            Shape rows = inputs.get(2 * i + 1).concat(table.range(1, 2));
            y = y == null ? rows : Rules.merge(mnemonic(), "rows", y, "rows of the next table", rows);
        }
        if (y == null) {
            throw new IllegalStateException("no tables");
        }
        if (summand) {
            Rules.broadcastsTo(mnemonic(), "summand", inputs.get(2 * tables), y);
        }
        for (Shape row : inputs.subList(inputs.size() - 2, inputs.size())) {
            Rules.broadcastsTo(mnemonic(), "scale or bias", row, y.range(y.rank() - 1, y.rank()));
        }
        return List.of(y);
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        DType dtype = inputs.getLast().dtype();
        DType wide = dtype.accumulator();
        Value sum = null;
        for (int i = 0; i < tables; i++) {
            Value rows = Cast.to(g, g.add(new Gather(0), inputs.get(2 * i), inputs.get(2 * i + 1)), wide);
            sum = sum == null ? rows : g.add(new Binary(BinaryFn.ADD), sum, rows);
        }
        if (sum == null) {
            throw new IllegalStateException("no tables");
        }
        if (summand) {
            sum = g.add(new Binary(BinaryFn.ADD), sum, Cast.to(g, inputs.get(2 * tables), wide));
        }
        Value scale = Cast.to(g, inputs.get(inputs.size() - 2), wide);
        Value bias = Cast.to(g, inputs.getLast(), wide);
        LayerNorm norm = new LayerNorm(sum.shape().rank() - 1, epsilon, true, true);
        return List.of(Cast.to(g, g.add(norm, sum, scale, bias), dtype));
    }
}
