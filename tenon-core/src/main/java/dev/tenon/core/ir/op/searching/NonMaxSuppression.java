package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;

/**
 * For each image and class the boxes by descending score, without those that overlap a better one by more than a
 * threshold or whose score is not above another.
 *
 * <p>[boxes f32 [B,N,4], scores f32 [B,C,N], most boxes of a class i64, overlap threshold f32, score threshold f32,
 * each of the last three one element] → [image, class and box index i64 [selected,3]], see {@link BoxSelection}. ONNX
 * NonMaxSuppression-11.
 */
public record NonMaxSuppression(boolean center) implements Deferred {
    @Override
    public Arity arity() {
        return Arity.exactly(5);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "most boxes", inputs.get(2));
        return List.of(
                BoxSelection.dtype(mnemonic(), List.of(inputs.get(0), inputs.get(1), inputs.get(3), inputs.get(4))));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        BoxSelection.check(mnemonic(), inputs.get(0), inputs.get(1));
        for (int i = 2; i < 5; i++) {
            Rules.single(mnemonic(), "input " + i, inputs.get(i));
        }
        return List.of(Shape.of(Dim.unknown(), Dim.of(3)));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(2);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        long most = Math.clamp(known.single(2), 0, inputs.getFirst().shape().size(1));
        List<Value> all = g.addAll(
                new BoxSelection(most, center),
                List.of(
                        inputs.get(0),
                        inputs.get(1),
                        g.add(Reshape.to(), inputs.get(3)),
                        g.add(Reshape.to(), inputs.get(4))));
        return List.of(g.add(new FirstOf(0), all.get(0), all.get(1)));
    }
}
