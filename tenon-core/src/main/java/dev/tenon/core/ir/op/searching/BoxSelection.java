package dev.tenon.core.ir.op.searching;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Greedy selection of boxes, image by image and class by class: the best score first (the lower index on ties); a box
 * whose overlap with one that is selected already (area of the intersection over area of the union) is greater than the
 * threshold is left out, as is one whose score is not greater than the score threshold. A NaN is never greater.
 *
 * <p>[boxes f32 [B,N,4], scores f32 [B,C,N], overlap threshold f32 [], score threshold f32 []] → [selected i64 [B C
 * min(most, N),3], each an image, a class and a box; count i64 []]. Rows past the count are 0. A box is two opposite
 * corners (y, x, y, x) in any order, or with {@code center} (x, y, width, height). ONNX NonMaxSuppression-11.
 */
public record BoxSelection(long most, boolean center) implements InUnits {
    public BoxSelection {
        long count = most;
        Expect.shape(
                count >= 0, "non_max_suppression", () -> "most boxes of a class is " + count + "; expected 0 or more");
    }

    /** Two opposite corners of a box. */
    private record Box(double lowY, double lowX, double highY, double highX) {
        double area() {
            return (highY - lowY) * (highX - lowX);
        }

        double overlap(Box other) {
            double height = Math.min(highY, other.highY) - Math.max(lowY, other.lowY);
            double width = Math.min(highX, other.highX) - Math.max(lowX, other.lowX);
            if (!(height > 0) || !(width > 0) || !(area() > 0) || !(other.area() > 0)) {
                return 0;
            }
            double shared = height * width;
            return shared / (area() + other.area() - shared);
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(4);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType selected = dtype(mnemonic(), inputs);
        return List.of(selected, DType.I64);
    }

    /** The type of the indices, for boxes, scores and thresholds of one float type. */
    static DType dtype(String op, List<DType> inputs) {
        Rules.sameFloat(op, inputs);
        return DType.I64;
    }

    /** That boxes and scores fit. */
    static void check(String op, Shape boxes, Shape scores) {
        Rules.rank(op, "boxes", boxes, 3);
        Rules.rank(op, "scores", scores, 3);
        Expect.dim(op, "boxes", boxes, 2, Dim.of(4));
        Expect.dim(op, "scores", scores, 0, boxes.dim(0));
        Expect.dim(op, "scores", scores, 2, boxes.dim(1));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape boxes = inputs.get(0);
        check(mnemonic(), boxes, inputs.get(1));
        Rules.rank(mnemonic(), "overlap threshold", inputs.get(2), 0);
        Rules.rank(mnemonic(), "score threshold", inputs.get(3), 0);
        Dim each = boxes.dim(1).isFixed() ? Dim.of(Math.min(most, boxes.dim(1).size())) : Dim.unknown();
        Dim classes =
                inputs.get(1).dim(0).merge(boxes.dim(0)).times(inputs.get(1).dim(1));
        return List.of(Shape.of(classes.times(each), Dim.of(3)), Shape.scalar());
    }

    @Override
    public long units(List<TensorType> inputs) {
        return 1;
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return inputs.get(1).shape().elements();
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape scores = at.input(1).shape();
        int boxes = SizeMath.toInt("non_max_suppression", scores.size(2));
        long count = 0;
        for (long lane = 0; lane < scores.elements(0, 2); lane++) {
            long image = lane / scores.size(1);
            List<Box> kept = new ArrayList<>();
            for (int index : candidates(at, lane * boxes, boxes)) {
                if (kept.size() == most) {
                    break;
                }
                Box box = box(at, image * boxes + index);
                if (kept.stream().noneMatch(better -> box.overlap(better) > at.get(2, 0))) {
                    kept.add(box);
                    at.setLong(0, 3 * count, image);
                    at.setLong(0, 3 * count + 1, lane % scores.size(1));
                    at.setLong(0, 3 * count + 2, index);
                    count++;
                }
            }
        }
        for (long i = 3 * count; i < at.result(0).shape().elements(); i++) {
            at.setLong(0, i, 0);
        }
        at.setLong(1, 0, count);
    }

    /** The boxes of a class whose score is high enough, the best first. */
    private static List<Integer> candidates(Operands at, long first, int boxes) {
        double least = at.get(3, 0);
        Comparator<Integer> best = Comparator.comparingDouble((Integer i) -> -at.get(1, first + i));
        return IntStream.range(0, boxes)
                .filter(i -> at.get(1, first + i) > least)
                .boxed()
                .sorted(best)
                .toList();
    }

    private Box box(Operands at, long index) {
        double a = at.get(0, 4 * index);
        double b = at.get(0, 4 * index + 1);
        double c = at.get(0, 4 * index + 2);
        double d = at.get(0, 4 * index + 3);
        return center
                ? new Box(b - d / 2, a - c / 2, b + d / 2, a + c / 2)
                : new Box(Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d));
    }
}
