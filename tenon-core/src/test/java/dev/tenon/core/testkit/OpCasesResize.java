package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.op.image.AspectPolicy;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeBy;
import dev.tenon.core.ir.op.image.ResizeMode;
import java.util.ArrayList;
import java.util.List;

/** Resampling. */
final class OpCasesResize {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(10);

    private OpCasesResize() {}

    static List<OpCase> all() {
        OpCasesResize all = new OpCasesResize();
        all.modes();
        all.types();
        all.shapes();
        all.deferred();
        return List.copyOf(all.cases);
    }

    private void modes() {
        NdArray x = random.array(DType.F32, 2, 3, 5, 4);
        for (CoordinateMode coordinates : CoordinateMode.values()) {
            for (NearestMode nearest : NearestMode.values()) {
                add(x, ResizeMode.NEAREST, coordinates, nearest, false, false, 9, 7);
                add(x, ResizeMode.NEAREST, coordinates, nearest, false, false, 3, 2);
            }
            for (ResizeMode mode : List.of(ResizeMode.LINEAR, ResizeMode.CUBIC)) {
                for (int flags = 0; flags < 4; flags++) {
                    boolean exclude = (flags & 1) != 0;
                    boolean antialias = (flags & 2) != 0;
                    add(x, mode, coordinates, NearestMode.FLOOR, exclude, antialias, 9, 7);
                    add(x, mode, coordinates, NearestMode.FLOOR, exclude, antialias, 3, 1);
                }
            }
        }
    }

    private void add(
            NdArray x,
            ResizeMode mode,
            CoordinateMode coordinates,
            NearestMode nearest,
            boolean exclude,
            boolean antialias,
            long height,
            long width) {
        boolean crops = coordinates == CoordinateMode.TF_CROP_AND_RESIZE;
        Resize op = new Resize(
                mode,
                coordinates,
                nearest,
                -0.75,
                exclude,
                0.5,
                antialias,
                List.of(1.0, 1.0, height / 5.0, width / 4.0),
                List.of(2L, 3L, height, width),
                crops ? List.of(0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 0.875, 1.25) : List.of());
        String name = "resize " + mode + " " + coordinates + " " + nearest + (exclude ? " excluding" : "")
                + (antialias ? " antialiased" : "") + " " + height + " by " + width + " " + x.dtype();
        cases.add(mode == ResizeMode.NEAREST ? OpCase.exact(name, op, x) : OpCase.sums(name, 64, op, x));
    }

    private void types() {
        for (DType type : OpCases.wholeBytes()) {
            if (type != DType.F32) {
                NdArray x = random.array(type, 2, 3, 5, 4);
                CoordinateMode coordinates = CoordinateMode.ASYMMETRIC;
                add(x, ResizeMode.NEAREST, coordinates, NearestMode.FLOOR, false, false, 10, 8);
                if (OpCases.FLOATS.contains(type)) {
                    add(x, ResizeMode.LINEAR, CoordinateMode.HALF_PIXEL, NearestMode.FLOOR, false, false, 10, 8);
                    add(x, ResizeMode.CUBIC, CoordinateMode.HALF_PIXEL, NearestMode.FLOOR, false, false, 10, 8);
                }
            }
        }
        Resize none = new Resize(
                ResizeMode.LINEAR,
                CoordinateMode.HALF_PIXEL,
                NearestMode.FLOOR,
                0,
                false,
                0,
                false,
                List.of(1.0, 2.0),
                List.of(0L, 6L),
                List.of());
        cases.add(OpCase.exact("resize no rows", none, NdArray.zeros(DType.F32, 0, 3)));
        Resize line = new Resize(
                ResizeMode.LINEAR,
                CoordinateMode.HALF_PIXEL,
                NearestMode.FLOOR,
                0,
                false,
                0,
                false,
                List.of(2.0),
                List.of(8L),
                List.of());
        cases.add(
                OpCase.close("resize NaN and infinity", line, OpCases.f32(1, Double.NaN, Double.POSITIVE_INFINITY, 2)));
    }

    /** Axes in the middle, more of them, more than a block, integers, extrapolation. */
    private void shapes() {
        for (ResizeMode mode : ResizeMode.values()) {
            for (boolean antialias : new boolean[] {false, true}) {
                if (antialias && mode == ResizeMode.NEAREST) {
                    continue;
                }
                String name = "resize " + mode + (antialias ? " antialiased" : "");
                OpCase[] all = {
                    shape(name, mode, antialias, 0.5, random.array(DType.F16, 3, 5, 7, 4, 8), 3, 9, 11, 4, 8),
                    shape(name, mode, antialias, 0.5, random.array(DType.F64, 3, 5, 7, 4), 5, 3, 9, 6),
                    shape(name, mode, antialias, 0.5, random.array(DType.F32, 17, 19, 1), 40, 31, 1),
                    shape(name, mode, antialias, 0.5, random.array(DType.F32, 100), 7),
                    shape(
                            name,
                            mode,
                            antialias,
                            0.5,
                            random.array(DType.F32, 2, 1, 3, 1, 2, 2, 3),
                            3,
                            2,
                            2,
                            2,
                            3,
                            1,
                            2),
                    shape(name, mode, antialias, 0.5, random.array(DType.F32, 2, 3), 2, 3)
                };
                cases.addAll(List.of(all));
                for (DType type : OpCases.INTEGERS) {
                    cases.add(shape(name, mode, antialias, 7, random.array(type, 2, 3, 5, 4), 2, 3, 8, 3));
                }
            }
            Resize crop = new Resize(
                    mode,
                    CoordinateMode.TF_CROP_AND_RESIZE,
                    NearestMode.CEIL,
                    -0.5,
                    false,
                    Double.NEGATIVE_INFINITY,
                    false,
                    List.of(2.0, 1.0, 1.0),
                    List.of(6L, 4L, 16L),
                    List.of(-0.25, 0.5, 0.0, 1.25, 1.5, 1.0));
            cases.add(OpCase.sums("resize extrapolating " + mode, 16, crop, random.array(DType.F32, 3, 4, 16)));
        }
    }

    private static OpCase shape(
            String name, ResizeMode mode, boolean antialias, double extrapolation, NdArray x, long... sizes) {
        List<Double> scales = new ArrayList<>();
        List<Long> results = new ArrayList<>();
        for (int axis = 0; axis < sizes.length; axis++) {
            scales.add((double) sizes[axis] / x.shape().size(axis));
            results.add(sizes[axis]);
        }
        Resize op = new Resize(
                mode,
                CoordinateMode.HALF_PIXEL,
                NearestMode.ROUND_PREFER_FLOOR,
                -0.75,
                false,
                extrapolation,
                antialias,
                scales,
                results,
                List.of());
        return new OpCase(
                name + " " + x.type() + " to " + results, op, List.of(x), mode == ResizeMode.NEAREST ? 0 : 64);
    }

    private void deferred() {
        NdArray x = random.array(DType.F32, 1, 2, 3, 4);
        List<Integer> all = List.of();
        List<Integer> some = List.of(3, -2);
        AspectPolicy stretch = AspectPolicy.STRETCH;
        add("scales", by(stretch, all, false, true), x, OpCases.f32(1, 1, 2, 0.7));
        add("scales of axes", by(stretch, some, false, true), x, OpCases.f32(1.5, 2));
        add("sizes", by(stretch, all, false, false), x, NdArray.ofLongs(1, 2, 5, 3));
        add("sizes of axes", by(stretch, some, false, false), x, NdArray.ofLongs(5, 6));
        add("not larger", by(AspectPolicy.NOT_LARGER, some, false, false), x, NdArray.ofLongs(7, 7));
        add("not smaller", by(AspectPolicy.NOT_SMALLER, some, false, false), x, NdArray.ofLongs(7, 7));
        add("unchanged", by(stretch, some, false, false), x, NdArray.ofLongs(4, 3));
        add("roi", by(stretch, some, true, false), x, OpCases.f32(0.25, 0, 1.25, 0.5), NdArray.ofLongs(4, 3));
    }

    private static ResizeBy by(AspectPolicy aspect, List<Integer> axes, boolean roi, boolean scales) {
        return new ResizeBy(
                ResizeMode.LINEAR,
                roi ? CoordinateMode.TF_CROP_AND_RESIZE : CoordinateMode.HALF_PIXEL,
                NearestMode.ROUND_PREFER_FLOOR,
                -0.75,
                false,
                0.5,
                false,
                aspect,
                axes,
                roi,
                scales,
                !scales);
    }

    private void add(String name, ResizeBy op, NdArray... inputs) {
        cases.add(OpCase.sums("resize_by " + name, 16, op, inputs));
    }
}
