package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Numpy slicing given as values: negative starts and ends count from the back, both are clamped; all axes without
 * {@code axes} are the first ones, steps without {@code steps} are 1.
 *
 * <p>[x, starts, ends, axes?, steps?, all i32 or i64 vectors of one length] → [y], of x's type; before the values are
 * known only its rank is. ONNX Slice-13.
 */
public record SliceBy(boolean axes, boolean steps) implements Deferred {
    /** By the number of inputs beyond three: all but the first. */
    private static final List<Set<Integer>> NEEDED = List.of(Set.of(1, 2), Set.of(1, 2, 3), Set.of(1, 2, 3, 4));

    @Override
    public Arity arity() {
        return Arity.exactly(3 + (axes ? 1 : 0) + (steps ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        for (int i = 1; i < inputs.size(); i++) {
            Rules.counts(mnemonic(), "input " + i, inputs.get(i));
        }
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Dim count = Rules.vector(mnemonic(), "starts", inputs.get(1));
        for (int i = 2; i < inputs.size(); i++) {
            if (!Rules.vector(mnemonic(), "input " + i, inputs.get(i)).mayEqual(count)) {
                throw new ShapeException(mnemonic() + ": starts " + inputs.get(1) + " and input " + i + " "
                        + inputs.get(i) + " differ; expected one length");
            }
        }
        return List.of(Shape.unknown(inputs.getFirst().rank()));
    }

    @Override
    public Set<Integer> neededValues() {
        return NEEDED.get(arity().min() - 3);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape x = inputs.getFirst().shape();
        long[] from = known.longs(1);
        long[] to = known.longs(2);
        long[] named = axes ? known.longs(3) : new long[from.length];
        long[] apart = steps ? known.longs(axes ? 4 : 3) : new long[from.length];
        for (int i = 0; i < from.length; i++) {
            named[i] = axes ? named[i] : i;
            apart[i] = steps ? apart[i] : 1;
        }
        Rules.distinctAxes(mnemonic(), named, x.rank());
        List<Long> starts = new ArrayList<>(Collections.nCopies(x.rank(), 0L));
        List<Long> strides = new ArrayList<>(Collections.nCopies(x.rank(), 1L));
        List<Long> sizes = new ArrayList<>();
        for (long size : x.sizes()) {
            sizes.add(size);
        }
        for (int i = 0; i < named.length; i++) {
            int axis = Rules.axisOfEither(mnemonic(), named[i], x.rank());
            if (apart[i] == 0) {
                throw new DataException(mnemonic() + ": the step of axis " + axis + " is 0; expected another number");
            }
            long step = Math.max(apart[i], -Long.MAX_VALUE);
            long size = x.size(axis);
            long start = clamp(from[i], size, 0, step > 0 ? size : size - 1);
            long end = clamp(to[i], size, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
            long span = step > 0 ? end - start : start - end;
            long count = span <= 0 || size == 0 ? 0 : (span - 1) / Math.abs(step) + 1;
            starts.set(axis, count == 0 ? 0 : start);
            sizes.set(axis, count);
            strides.set(axis, count <= 1 ? 1 : step);
        }
        return List.of(g.add(new Slice(starts, sizes, strides), inputs.getFirst()));
    }

    private static long clamp(long index, long size, long least, long greatest) {
        return Math.clamp(index < 0 ? index + size : index, least, Math.max(least, greatest));
    }
}
