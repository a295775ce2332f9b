package dev.tenon.core.ir.op.movement;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Reshape to sizes given as a value: -1 is inferred, 0 copies the input's size at the same index unless allowZero,
 * which forbids -1 beside a 0.
 *
 * <p>[x, sizes i64] → [y], of x's type; before the sizes are known only its rank is. ONNX Reshape-14.
 */
public record ReshapeTo(boolean allowZero) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(2);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "sizes", inputs.get(1));
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        return List.of(Rules.rankFrom(mnemonic(), "sizes", inputs.get(1)));
    }

    /** The rank comes from the sizes alone. */
    @Override
    public List<TensorType> infer(List<TensorType> inputs) {
        if (inputs.size() != 2 || !inputs.get(1).shape().isRanked()) {
            return Deferred.super.infer(inputs);
        }
        DType type =
                dtypes(List.of(inputs.get(0).dtype(), inputs.get(1).dtype())).getFirst();
        return List.of(new TensorType(
                type, Rules.rankFrom(mnemonic(), "sizes", inputs.get(1).shape())));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Shape x = inputs.getFirst().shape();
        long[] sizes = known.longs(1);
        boolean[] copied = new boolean[Math.max(x.rank(), sizes.length)];
        int hole = -1;
        long others = 1;
        for (int i = 0; i < sizes.length; i++) {
            if (sizes[i] == 0 && !allowZero) {
                if (i >= x.rank()) {
                    throw fault(x, known, "a size other than 0 at index " + i + ", which x does not have");
                }
                sizes[i] = x.size(i);
                copied[i] = true;
            } else if (sizes[i] == -1 && hole < 0) {
                hole = i;
            } else if (sizes[i] < 0) {
                throw fault(x, known, "one -1 at most, and no other negative size");
            } else {
                others *= sizes[i];
            }
        }
        if (hole >= 0) {
            // copied dims stand on both sides, so they need not divide; one of them may be 0
            long rest = 1;
            for (int axis = 0; axis < x.rank(); axis++) {
                rest *= copied[axis] ? 1 : x.size(axis);
            }
            if (others == 0 || rest % others != 0) {
                throw fault(x, known, "sizes that settle what -1 is");
            }
            sizes[hole] = rest / others;
        }
        return List.of(g.add(Reshape.to(sizes), inputs.getFirst()));
    }

    private ShapeException fault(Shape x, Known known, String expected) {
        return new ShapeException(
                mnemonic() + ": x " + x + ", sizes " + Arrays.toString(known.longs(1)) + "; expected " + expected);
    }
}
