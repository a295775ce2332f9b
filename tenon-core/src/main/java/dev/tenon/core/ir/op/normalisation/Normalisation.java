package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.reference.Summation;
import dev.tenon.core.ir.rule.Rules;
import java.util.Arrays;
import java.util.List;

/** What the normalisations share. */
public final class Normalisation {
    private Normalisation() {}

    static void epsilon(String op, double epsilon) {
        if (!(epsilon >= 0)) {
            throw new ShapeException(op + ": epsilon is " + epsilon + "; expected a number of 0 or more");
        }
    }

    /** The shape rule of a norm over the dims from {@code axis} on, whose other inputs broadcast to them. */
    static Shape shape(String op, int axis, List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.axis(op, axis, x);
        for (Shape parameter : inputs.subList(1, inputs.size())) {
            Rules.broadcastsTo(op, "scale or bias", parameter, x.range(axis, x.rank()));
        }
        return x;
    }

    /**
     * y = (x - mean) / sqrt(variance + epsilon) over a run of elements; two passes, so a large mean cancels nothing.
     * The mean of the differences is what rounding left of the mean: it matters where elements differ by a few units in
     * their last place.
     */
    static void standardise(NdArray x, NdArray y, int base, int size, double epsilon) {
        double mean = Summation.sum(size, i -> x.get(base + i)) / size;
        double rest = Summation.sum(size, i -> x.get(base + i) - mean) / size;
        double variance = Summation.sum(size, i -> Math.pow(x.get(base + i) - mean - rest, 2)) / size;
        double root = Math.sqrt(variance + epsilon);
        for (int i = 0; i < size; i++) {
            y.set(base + i, (x.get(base + i) - mean - rest) / root);
        }
    }

    /** A per-channel vector as [C,1,1,...], to broadcast over x [B,C,...]. */
    public static Value perChannel(OpBuilder g, Value vector, int rank) {
        long[] sizes = new long[rank - 1];
        Arrays.fill(sizes, 1);
        sizes[0] = vector.shape().size(0);
        return g.add(Reshape.to(sizes), vector);
    }
}
