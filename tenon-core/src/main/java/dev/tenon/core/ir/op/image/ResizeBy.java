package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.rule.Expect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Resize with scales or sizes given as a value. [x, roi?, scales?, sizes?]. ONNX Resize-19.
 *
 * <p>Exactly one of scales and sizes is there; like roi they have one element (roi two) for each of {@code axes}, or
 * for each dim where that is empty; dims that are not named stay. A dim given by a scale is {@code floor(in scale)} in
 * f32 arithmetic. Sizes that are to keep the aspect ratio share one scale, the least (not larger) or greatest (not
 * smaller) of the quotients, and become {@code floor(in scale + 1/2)}. Resolves to {@link Resize}, or to x where
 * nothing would change.
 */
public record ResizeBy(
        ResizeMode mode,
        CoordinateMode coordinates,
        NearestMode nearest,
        double cubicCoefficient,
        boolean excludeOutside,
        double extrapolation,
        boolean antialias,
        AspectPolicy aspect,
        List<Integer> axes,
        boolean roi,
        boolean scales,
        boolean sizes)
        implements Deferred {
    private static final String NAME = "resize_by";

    public ResizeBy {
        axes = List.copyOf(axes);
        Expect.shape(scales != sizes, NAME, () -> "takes either scales or sizes");
        Expect.shape(
                aspect == AspectPolicy.STRETCH || sizes, NAME, () -> "only sizes can be fitted to an aspect ratio");
        Expect.shape(
                coordinates != CoordinateMode.TF_CROP_AND_RESIZE || roi,
                NAME,
                () -> "cropping takes a region of interest");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 + (roi ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        if (roi) {
            Expect.floating(NAME, "roi", inputs.get(1));
        }
        DType last = inputs.getLast();
        if (scales) {
            Expect.floating(NAME, "scales", last);
        } else {
            Expect.same(NAME, "sizes", last, DType.I64);
        }
        return List.of(inputs.getFirst());
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Set<Integer> changed = resized(x).collect(Collectors.toSet());
        Expect.same(NAME, scales ? "scales" : "sizes", inputs.getLast(), Shape.of(changed.size()));
        if (roi) {
            Expect.same(NAME, "roi", inputs.get(1), Shape.of(2L * changed.size()));
        }
        return List.of(Shape.of(IntStream.range(0, x.rank())
                .mapToObj(axis -> changed.contains(axis) ? Dim.unknown() : x.dim(axis))
                .toList()));
    }

    /** The axes that the values speak of, in the order in which they do. */
    private Stream<Integer> resized(Shape x) {
        return axes.isEmpty()
                ? IntStream.range(0, x.rank()).boxed()
                : axes.stream().map(x::axis);
    }

    @Override
    public Set<Integer> neededValues() {
        return roi ? Set.of(1, 2) : Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Value x = inputs.getFirst();
        Shape shape = x.shape();
        List<Integer> named = resized(shape).toList();
        int last = inputs.size() - 1;
        List<Double> factors = new ArrayList<>(Collections.nCopies(shape.rank(), 1.0));
        List<Long> results =
                new ArrayList<>(shape.dims().stream().map(Dim::size).toList());
        if (scales) {
            scale(shape, named, known.value(last), factors, results);
        } else {
            fit(shape, named, known.longs(last), factors, results);
        }
        boolean crops = coordinates == CoordinateMode.TF_CROP_AND_RESIZE;
        if (!crops && Shape.ofSizes(results).equals(shape) && factors.stream().allMatch(factor -> factor == 1)) {
            return List.of(x);
        }
        Resize resize = new Resize(
                mode,
                coordinates,
                nearest,
                cubicCoefficient,
                excludeOutside,
                extrapolation,
                antialias,
                factors,
                results,
                crops ? region(shape, named, known.value(1)) : List.of());
        return g.addAll(resize, List.of(x));
    }

    private static void scale(
            Shape shape, List<Integer> named, NdArray given, List<Double> factors, List<Long> results) {
        for (int i = 0; i < named.size(); i++) {
            int axis = named.get(i);
            long input = shape.size(axis);
            double factor = given.get(i);
            // as exporters and other runtimes have it: 0.7 as f32 is less than 0.7, yet makes 7 of 10
            long result = (long) Math.floor((double) ((float) input * (float) factor));
            boolean whole = result > 0 && Math.abs(input * factor - result) <= 1e-6 * result;
            factors.set(axis, whole ? (double) result / input : factor);
            results.set(axis, result);
        }
    }

    private void fit(Shape shape, List<Integer> named, long[] given, List<Double> factors, List<Long> results) {
        double[] quotients = IntStream.range(0, named.size())
                .mapToDouble(i -> quotient(given[i], shape.size(named.get(i))))
                .toArray();
        double shared = switch (aspect) {
            case STRETCH -> 1;
            case NOT_LARGER -> Arrays.stream(quotients).min().orElse(1);
            case NOT_SMALLER -> Arrays.stream(quotients).max().orElse(1);
        };
        for (int i = 0; i < named.size(); i++) {
            int axis = named.get(i);
            boolean stretch = aspect == AspectPolicy.STRETCH;
            factors.set(axis, stretch ? quotients[i] : shared);
            double size = shape.size(axis);
            results.set(axis, stretch ? given[i] : (long) Math.floor(shared * size + 0.5));
        }
    }

    /** A scale has to be more than 0 even where there is nothing to scale. */
    private static double quotient(long size, long input) {
        return size == 0 || input == 0 ? 1 : (double) size / input;
    }

    private static List<Double> region(Shape shape, List<Integer> named, NdArray given) {
        int rank = shape.rank();
        List<Double> region = new ArrayList<>(Collections.nCopies(rank, 0.0));
        region.addAll(Collections.nCopies(rank, 1.0));
        for (int i = 0; i < named.size(); i++) {
            region.set(named.get(i), given.get(i));
            region.set(rank + named.get(i), given.get(named.size() + i));
        }
        return region;
    }
}
