package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.SamplePadding;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.core.ir.op.signal.Dft;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Windows, images, channel norms, rotary embeddings and transforms through their lowerings, at sizes of many blocks,
 * and regions that are not in an image.
 */
final class WindowCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private final List<KernelCase> cases = new ArrayList<>();

    private WindowCases() {}

    static List<KernelCase> all() {
        WindowCases all = new WindowCases();
        for (DType type : FLOATS) {
            all.pools(type);
            all.images(type);
            all.rows(type);
        }
        all.add("resize", resize(ResizeMode.NEAREST, 3, 29, 31, 7), 0, DType.U8, 3, 17, 13, 7);
        all.add("resize", resize(ResizeMode.NEAREST, 3, 29, 31, 16), 0, DType.F16, 3, 17, 13, 16);
        all.add("resize", infinite(), 16, DType.F32, 3, 4, 16);
        all.cases.add(new KernelCase("sample", "roi_align of no image", WindowCases::noImage));
        all.cases.add(new KernelCase("sample", "max_roi_pool of no image", WindowCases::noImageForMaximum));
        all.cases.add(new KernelCase("sample", "roi_align of an infinite region", WindowCases::infiniteRegion));
        return all.cases;
    }

    private static List<Long> each(int axes, long value) {
        return Collections.nCopies(axes, value);
    }

    private void pools(DType type) {
        for (PoolFn fn : PoolFn.values()) {
            Pool usual = new Pool(fn, each(2, 3), each(2, 2), each(2, 1), each(2, 1), each(2, 1), false, true, 2);
            add("pool", usual, 9, type, 2, 7, 57, 55);
            Pool global =
                    new Pool(fn, List.of(13L, 17L), each(2, 1), each(2, 0), each(2, 0), each(2, 1), false, true, 2);
            add("pool", global, 221, type, 3, 31, 13, 17);
            Pool deep = new Pool(fn, each(4, 2), each(4, 1), each(4, 1), each(4, 0), each(4, 1), false, false, 3);
            add("pool", deep, 16, type, 1, 2, 3, 4, 3, 5);
        }
        add(
                "pool",
                new MaxPoolIndices(each(3, 3), each(3, 2), each(3, 1), each(3, 1), each(3, 1), true, true),
                0,
                type,
                2,
                3,
                11,
                13,
                17);
    }

    private void images(DType type) {
        for (ResizeMode mode : List.of(ResizeMode.LINEAR, ResizeMode.CUBIC)) {
            add("resize", resize(mode, 3, 2, 67, 129), 64, type, 3, 2, 33, 65);
            add("resize", resize(mode, 1, 1, 9, 300), 64, type, 1, 1, 70, 150);
        }
        for (ResizeMode mode : ResizeMode.values()) {
            add(
                    "sample",
                    new GridSample(mode, SamplePadding.REFLECTION, false),
                    64,
                    StepCases.random(type, 2, 5, 31, 33),
                    StepCases.random(DType.F32, 2, 19, 37, 2));
        }
    }

    private void rows(DType type) {
        for (long[] sizes : new long[][] {{2, 33, 1031}, {1, 2, 65_537}, {3, 5, 64}}) {
            add(
                    "instance_norm",
                    new InstanceNorm(1e-3),
                    sizes[2],
                    StepCases.random(type, sizes),
                    StepCases.random(type, sizes[1]),
                    StepCases.random(type, sizes[1]));
        }
        add("instance_norm", new LocalResponseNorm(5, 0.5, 0.75, 2), 5, type, 2, 31, 29, 7);
        for (boolean interleaved : new boolean[] {false, true}) {
            add(
                    "rope",
                    new Rope(interleaved, 64),
                    1,
                    StepCases.random(type, 2, 5, 67, 96),
                    StepCases.random(type, 67, 32),
                    StepCases.random(type, 67, 32));
            add(
                    "rope",
                    new Rope(interleaved, 0, 10),
                    1,
                    StepCases.random(type, 2, 67, 15, 64),
                    StepCases.random(type.accumulator(), 67, 1, 32),
                    StepCases.random(type.accumulator(), 2, 67, 1, 32));
        }
        for (long length : new long[] {400, 512, 1024, 521, 8192}) {
            // the reference's own rounding counts as well: in f64 it is as large as ours
            add("dft", new Dft(1, length, false, true), 4 * length, type, 5, length, 1);
            add("dft", new Dft(0, length, true, false), 4 * length, type, length, 3, 2);
        }
    }

    private void add(String kernel, Primitive op, long reductionLength, DType type, long... sizes) {
        add(kernel, op, reductionLength, StepCases.random(type, sizes));
    }

    private void add(String kernel, Primitive op, long reductionLength, StepCases.Input... inputs) {
        List<StepCases.Input> all = List.of(inputs);
        String what = op + " of " + all.getFirst().type();
        cases.add(new KernelCase(
                kernel,
                what.length() > 160 ? what.substring(what.length() - 160) : what,
                stage -> StepRun.withoutLibraries(stage)
                        .check(op, all.stream().map(StepCases.Input::values).toList(), Math.max(1, reductionLength))));
    }

    /** To these sizes, the scales those of the sizes. */
    private static Resize resize(ResizeMode mode, long... sizes) {
        List<Long> results = new ArrayList<>();
        for (long size : sizes) {
            results.add(size);
        }
        List<Double> scales = sizes[0] == 3 && sizes[1] == 2
                ? List.of(1.0, 1.0, 67 / 33.0, 129 / 65.0)
                : sizes[0] == 3 ? List.of(1.0, 29 / 17.0, 31 / 13.0, 1.0) : List.of(1.0, 1.0, 9 / 70.0, 2.0);
        return new Resize(
                mode,
                CoordinateMode.HALF_PIXEL,
                NearestMode.ROUND_PREFER_FLOOR,
                -0.75,
                false,
                0,
                mode != ResizeMode.NEAREST && sizes[0] == 1,
                scales,
                results,
                List.of());
    }

    /** An infinite extrapolation value under weights of both signs. */
    private static Resize infinite() {
        return new Resize(
                ResizeMode.CUBIC,
                CoordinateMode.TF_CROP_AND_RESIZE,
                NearestMode.CEIL,
                -0.5,
                false,
                Double.NEGATIVE_INFINITY,
                false,
                List.of(2.0, 1.0, 1.0),
                List.of(6L, 4L, 16L),
                List.of(-0.25, 0.5, 0.0, 1.25, 1.5, 1.0));
    }

    private static NdArray f32(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    private static void noImage(KernelStage stage) {
        NdArray rois = f32(new long[] {2, 4}, 0, 0, 1, 1, 0, 0, 1, 1);
        NdArray images = NdArray.ofLongs(0, 1);
        check(stage, new RoiAlign(1, 1, 1, 1, true, false), 2, image(), rois, images);
    }

    private static void noImageForMaximum(KernelStage stage) {
        NdArray rois = f32(new long[] {2, 5}, 0, 0, 0, 1, 1, -1, 0, 0, 1, 1);
        check(stage, new MaxRoiPool(1, 1, 1), 2, image(), rois);
    }

    private static void infiniteRegion(KernelStage stage) {
        NdArray rois = f32(new long[] {2, 4}, 0, 0, 1, 1, 0, Double.POSITIVE_INFINITY, 1, 1);
        NdArray images = NdArray.ofLongs(0, 0);
        check(stage, new RoiAlign(1, 1, 0, 1, true, false), 3, image(), rois, images);
    }

    private static NdArray image() {
        return f32(new long[] {1, 1, 2, 2}, 3, 3, 3, 3);
    }

    /** Of two regions of threes the second is at fault. */
    private static void check(KernelStage stage, Primitive op, long fault, NdArray... inputs) {
        StepRun.Result result = StepRun.withoutLibraries(stage).run(op, List.of(inputs));
        Tolerance.EXACT.check("regions", f32(new long[] {2, 1, 1, 1}, 3, 0), result.output());
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, fault), result.fault());
    }
}
