package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * {@link Col2Im} with the sizes of image and block given as values. [x, image i64 [dims], block i64 [dims]] → [y]. ONNX
 * Col2Im-18.
 */
public record Col2ImBy(List<Long> strides, List<Long> padsBefore, List<Long> padsAfter, List<Long> dilations)
        implements Deferred {
    public Col2ImBy {
        strides = List.copyOf(strides);
        padsBefore = List.copyOf(padsBefore);
        padsAfter = List.copyOf(padsAfter);
        dilations = List.copyOf(dilations);
        Windows.check("col2_im_by", strides, padsBefore, padsAfter, dilations);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(3);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "image", inputs.get(1));
        Rules.counts(mnemonic(), "block", inputs.get(2));
        return List.of(Rules.sameNumeric(mnemonic(), inputs.subList(0, 1)));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.rank(mnemonic(), "x", inputs.get(0), 3);
        for (int i = 1; i < 3; i++) {
            String operand = i == 1 ? "image" : "block";
            Rules.rank(mnemonic(), operand, inputs.get(i), 1);
            Expect.dim(mnemonic(), operand, inputs.get(i), 0, Dim.of(strides.size()));
        }
        return List.of(Shape.of(inputs.getFirst().dim(0), Dim.unknown()).concat(Shape.unknown(strides.size())));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of(1, 2);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        List<Long> image = LongStream.of(known.longs(1)).boxed().toList();
        List<Long> block = LongStream.of(known.longs(2)).boxed().toList();
        return List.of(g.add(new Col2Im(image, block, strides, padsBefore, padsAfter, dilations), inputs.getFirst()));
    }
}
