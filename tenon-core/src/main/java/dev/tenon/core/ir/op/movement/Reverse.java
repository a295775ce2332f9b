package dev.tenon.core.ir.op.movement;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;

/** The elements of some axes in the opposite order. [x of any type] → [y like x]. numpy.flip. */
public record Reverse(List<Integer> axes) implements Composite {
    public Reverse {
        axes = List.copyOf(axes);
        axes.forEach(axis -> Rules.fromFront("reverse", axis));
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return inputs;
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        axes.forEach(axis -> Rules.axis(mnemonic(), axis, inputs.getFirst()));
        return inputs;
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        Shape x = inputs.getFirst().shape();
        List<Long> starts = new ArrayList<>();
        List<Long> sizes = new ArrayList<>();
        List<Long> steps = new ArrayList<>();
        for (int axis = 0; axis < x.rank(); axis++) {
            boolean turned = axes.contains(axis) && x.size(axis) > 1;
            starts.add(turned ? x.size(axis) - 1 : 0);
            sizes.add(x.size(axis));
            steps.add(turned ? -1L : 1L);
        }
        return g.addAll(new Slice(starts, sizes, steps), inputs);
    }
}
