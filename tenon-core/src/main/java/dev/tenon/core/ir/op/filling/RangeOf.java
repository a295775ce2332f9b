package dev.tenon.core.ir.op.filling;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * start, start + delta, ... below limit (above, for a negative delta): element i is start + i * delta.
 *
 * <p>[start, limit, delta, scalars of one number type but u64] → [y [n]], of their type, n = max(0, ceil((limit -
 * start) / delta)). Becomes a constant of at most {@link #MAX_ELEMENTS}. A delta of 0 is a {@link DataException}. ONNX
 * Range-11.
 */
public record RangeOf() implements Deferred {
    /** Far above any sequence of positions, far below what would fill the heap. */
    public static final long MAX_ELEMENTS = 1 << 24;

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType type = Rules.sameNumeric(mnemonic(), inputs);
        return List.of(Rules.require(mnemonic(), "inputs", type, t -> t != DType.U64, "a number type but u64"));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        inputs.forEach(input -> Rules.single(mnemonic(), "input", input));
        return List.of(Shape.unknown(1));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(0, 1, 2);
    }

    @Override
    public boolean needsShapes() {
        return false;
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        NdArray start = known.value(0);
        NdArray delta = known.value(2);
        boolean floats = start.dtype().isFloat();
        if (delta.get(0) == 0) {
            throw new DataException(mnemonic() + ": delta is 0; expected another number");
        }
        double count = floats
                ? Math.ceil((known.value(1).get(0) - start.get(0)) / delta.get(0))
                : count(start.getLong(0), known.single(1), delta.getLong(0));
        if (!(count <= MAX_ELEMENTS)) {
            throw new UnsupportedException(mnemonic() + ": from " + start + " to " + known.value(1) + " by " + delta
                    + " are too many elements; expected at most " + MAX_ELEMENTS);
        }
        NdArray range = NdArray.zeros(start.dtype(), (long) Math.max(0, count));
        for (int i = 0; i < range.size(); i++) {
            if (floats) {
                range.set(i, start.get(0) + i * delta.get(0));
            } else {
                range.set(i, start.getLong(0) + i * delta.getLong(0));
            }
        }
        return List.of(g.constant(range.toConstant()));
    }

    /** ceil((limit - start) / delta); the differences are positive, so unsigned division spares the overflow. */
    private static double count(long start, long limit, long delta) {
        if (delta > 0) {
            return limit <= start ? 0 : Long.divideUnsigned(limit - start - 1, delta) + 1.0;
        }
        return limit >= start ? 0 : Long.divideUnsigned(start - limit - 1, -delta) + 1.0;
    }
}
