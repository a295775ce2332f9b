package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.ir.op.convolution.DeformConv;
import dev.tenon.core.ir.op.image.Col2Im;
import dev.tenon.core.ir.op.image.Col2ImBy;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.SamplePadding;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.MaxUnpool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import java.util.ArrayList;
import java.util.List;

/** Images sampled at computed places, regions, blocks put together. */
final class OpCasesImages {
    private static final List<Long> ONE = OpCases.sizes(1, 1);
    private static final List<Long> NONE = OpCases.sizes(0, 0);

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(37);

    private OpCasesImages() {}

    static List<OpCase> all() {
        OpCasesImages all = new OpCasesImages();
        all.grids();
        all.regions();
        OpCases.FLOATS.forEach(all::deformed);
        all.blocks();
        return List.copyOf(all.cases);
    }

    private void add(String name, Op op, NdArray... inputs) {
        cases.add(OpCase.close(op.mnemonic() + " " + name, op, inputs));
    }

    private void grids() {
        NdArray plane = random.array(DType.F32, 2, 3, 5, 7);
        NdArray volume = random.array(DType.F32, 1, 2, 3, 1, 4);
        NdArray line = random.array(DType.F32, 1, 2, 5);
        for (ResizeMode mode : ResizeMode.values()) {
            for (SamplePadding padding : SamplePadding.values()) {
                for (boolean corners : List.of(false, true)) {
                    GridSample op = new GridSample(mode, padding, corners);
                    String name = mode + " " + padding + (corners ? " corners" : " edges");
                    add(name + " plane", op, plane, random.floats(DType.F32, -2, 2, 2, 4, 3, 2));
                    add(name + " volume", op, volume, random.floats(DType.F32, -2, 2, 1, 2, 3, 1, 3));
                    add(name + " line", op, line, random.floats(DType.F32, -9, 9, 1, 11, 1));
                }
            }
        }
        GridSample linear = new GridSample(ResizeMode.LINEAR, SamplePadding.ZEROS, false);
        NdArray deep = random.array(DType.F32, 1, 2, 3, 2, 4, 3);
        for (ResizeMode mode : ResizeMode.values()) {
            GridSample op = new GridSample(mode, SamplePadding.REFLECTION, false);
            add(mode + " four dims", op, deep, random.floats(DType.F32, -2, 2, 1, 2, 1, 3, 2, 4));
            add(mode + " other types", op, plane, random.floats(DType.F16, -2, 2, 2, 4, 3, 2));
        }
        for (DType type : OpCases.FLOATS) {
            add(
                    type.toString(),
                    linear,
                    random.array(type, 1, 3, 31, 33),
                    random.floats(type, -1.5, 1.5, 1, 17, 13, 2));
        }
        add("nothing", linear, plane, NdArray.zeros(DType.F32, 2, 0, 3, 2));
        add("no channels", linear, NdArray.zeros(DType.F32, 1, 0, 2, 2), random.array(DType.F32, 1, 2, 2, 2));
        NdArray wild = OpCases.f32(
                new long[] {1, 1, 5, 2},
                Double.NaN,
                0,
                0,
                Double.POSITIVE_INFINITY,
                1e30,
                -1e30,
                -3e38,
                0,
                0,
                Double.NaN);
        NdArray outside = OpCases.f32(new long[] {1, 1, 2, 2}, 3, Double.NaN, Double.NaN, 3);
        for (ResizeMode mode : ResizeMode.values()) {
            for (SamplePadding padding : SamplePadding.values()) {
                GridSample op = new GridSample(mode, padding, true);
                add(mode + " " + padding + " wild", op, random.array(DType.F32, 1, 1, 3, 1), wild);
                add(mode + " " + padding + " outside or no number", op, random.array(DType.F32, 1, 2, 3, 4), outside);
            }
        }
    }

    private void regions() {
        NdArray x = random.array(DType.F32, 2, 3, 11, 7);
        NdArray rois = OpCases.f32(new long[] {4, 4}, 0, 0, 6, 10, 1.5, 2.25, 3, 3, -4, -4, 20, 20, 5, 5, 4, 4);
        NdArray images = OpCases.i64(new long[] {4}, 0, 1, 1, 0);
        for (boolean half : List.of(true, false)) {
            for (boolean max : List.of(true, false)) {
                String name = (half ? "half pixel" : "as it is") + (max ? " max" : " mean");
                add(name, new RoiAlign(3, 2, 2, 1, half, max), x, rois, images);
                add(name + " scaled", new RoiAlign(2, 3, 0, 0.5, half, max), x, rois, images);
            }
        }
        for (DType type : OpCases.FLOATS) {
            NdArray typed = NdArray.of(TensorType.of(type, 4, 4), rois.toDoubles());
            add(type.toString(), new RoiAlign(2, 2, 0, 1, true, false), random.array(type, 2, 3, 11, 7), typed, images);
            NdArray five = OpCases.f32(new long[] {3, 5}, 0, 0, 0, 6, 10, 1, 1, 2, 3, 3, 1, 9, 9, 20, 20);
            cases.add(OpCase.exact(
                    "max_roi_pool " + type,
                    new MaxRoiPool(3, 2, 1),
                    random.array(type, 2, 3, 11, 7),
                    NdArray.of(TensorType.of(type, 3, 5), five.toDoubles())));
        }
        add(
                "none",
                new RoiAlign(2, 2, 0, 1, true, false),
                x,
                NdArray.zeros(DType.F32, 0, 4),
                NdArray.zeros(DType.I64, 0));
        add("i32", new RoiAlign(2, 2, 1, 1, true, false), x, rois, random.integers(DType.I32, 0, 1, 4));
        NdArray bad = OpCases.f32(new long[] {1, 1, 2, 2}, Double.NaN, 1, 2, 3);
        add("NaN", new MaxRoiPool(1, 1, 1), bad, OpCases.f32(new long[] {1, 5}, 0, 0, 0, 1, 1));
    }

    private void deformed(DType type) {
        NdArray x = random.array(type, 2, 4, 5, 7);
        NdArray offsets = random.array(type, 2, 2 * 6 * 2, 4, 7);
        NdArray mask = random.array(type, 2, 2 * 6, 4, 7);
        List<Long> kernel = OpCases.sizes(2, 3);
        List<Long> after = OpCases.sizes(0, 1);
        List<Long> before = OpCases.sizes(0, 1);
        add(type + " columns", new DeformColumns(kernel, ONE, before, after, ONE, 2, true), x, offsets, mask);
        add(type + " plain columns", new DeformColumns(kernel, ONE, before, after, ONE, 2, false), x, offsets);
        if (type.accumulator() == type) {
            convolved(type, x, offsets, mask);
        }
    }

    /** Short types round the columns: the one rounding that tolerances allow for is not enough. */
    private void convolved(DType type, NdArray x, NdArray offsets, NdArray mask) {
        List<Long> before = OpCases.sizes(0, 1);
        cases.add(OpCase.sums(
                "deform_conv " + type,
                12,
                new DeformConv(ONE, before, before, ONE, 2, 2, true, true),
                x,
                random.array(type, 6, 2, 2, 3),
                offsets,
                random.array(type, 6),
                mask));
        cases.add(OpCase.sums(
                "deform_conv plain " + type,
                24,
                new DeformConv(ONE, before, before, ONE, 1, 2, false, false),
                x,
                random.array(type, 5, 4, 2, 3),
                offsets));
    }

    private void blocks() {
        for (DType type : OpCases.FLOATS) {
            cases.add(OpCase.sums(
                    "col2_im " + type,
                    6,
                    new Col2Im(OpCases.sizes(5, 7), OpCases.sizes(2, 3), ONE, OpCases.sizes(0, 1), ONE, ONE),
                    random.array(type, 2, 12, 5 * 7)));
        }
        Col2Im strided = new Col2Im(
                OpCases.sizes(6, 5), OpCases.sizes(2, 2), OpCases.sizes(3, 2), NONE, NONE, OpCases.sizes(2, 1));
        cases.add(OpCase.sums("col2_im strided", 4, strided, random.array(DType.F32, 1, 4, 4)));
        Col2Im line = new Col2Im(
                OpCases.sizes(9),
                OpCases.sizes(3),
                OpCases.sizes(1),
                OpCases.sizes(0),
                OpCases.sizes(0),
                OpCases.sizes(1));
        cases.add(OpCase.sums("col2_im line", 3, line, random.array(DType.I32, 2, 6, 7)));
        cases.add(OpCase.sums(
                "col2_im_by plane",
                4,
                new Col2ImBy(ONE, NONE, NONE, ONE),
                random.array(DType.F32, 1, 4, 4),
                NdArray.ofLongs(3, 3),
                NdArray.ofLongs(2, 2)));
        for (DType type : OpCases.wholeBytes()) {
            cases.add(OpCase.exact(
                    "max_unpool " + type,
                    new MaxUnpool(OpCases.sizes(4, 4)),
                    random.array(type, 1, 2, 2, 2),
                    OpCases.i64(new long[] {1, 2, 2, 2}, 5, 7, 13, 15, 16, 18, 31, 29)));
        }
        cases.add(OpCase.exact(
                "max_unpool nothing",
                new MaxUnpool(OpCases.sizes(3)),
                NdArray.zeros(DType.F32, 1, 1, 0),
                NdArray.zeros(DType.I64, 1, 1, 0)));
    }
}
