package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.core.ir.op.searching.Compress;
import dev.tenon.core.ir.op.searching.FirstOf;
import dev.tenon.core.ir.op.searching.NonMaxSuppression;
import dev.tenon.core.ir.op.searching.NonZero;
import dev.tenon.core.ir.op.searching.NonZeroIndices;
import dev.tenon.core.ir.op.searching.Unique;
import dev.tenon.core.ir.op.searching.UniqueIndices;
import java.util.ArrayList;
import java.util.List;

/** Operations whose results are as large as what they find. */
final class OpCasesSearch {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(31);

    private OpCasesSearch() {}

    static List<OpCase> all() {
        OpCasesSearch all = new OpCasesSearch();
        OpCases.wholeBytes().forEach(all::everyType);
        all.sizes();
        all.slices();
        all.large();
        all.boxes();
        return List.copyOf(all.cases);
    }

    private void add(String name, Op op, NdArray... inputs) {
        cases.add(OpCase.exact(op.mnemonic() + " " + name, op, inputs));
    }

    /** A few values, many times over, zeros among them. */
    private NdArray repeated(DType type, long... sizes) {
        NdArray array = NdArray.zeros(type, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, random.nextLong(type.isUnsigned() || type == DType.BOOL ? 0 : -1, 2));
        }
        return array;
    }

    private void everyType(DType type) {
        NdArray x = repeated(type, 5, 7);
        add(type.toString(), new NonZero(), x);
        add(type.toString(), new NonZeroIndices(), x);
        for (boolean sorted : List.of(true, false)) {
            String name = type + (sorted ? " sorted" : " as met");
            add(name, new Unique(0, sorted), repeated(type, 33));
            add(name, new UniqueIndices(0, sorted), repeated(type, 33));
        }
        add(type.toString(), new Compress(1), x, NdArray.of(TensorType.of(DType.BOOL, 7), 1, 0, 0, 1, 1, 0, 1L));
        add(type.toString(), new FirstOf(1), x, OpCases.i64(new long[0], 3));
    }

    private void sizes() {
        add("scalar", new NonZero(), OpCases.f32(new long[0], 3));
        add("scalar zero", new NonZero(), OpCases.f32(new long[0], 0));
        add("empty", new NonZero(), NdArray.zeros(DType.F32, 3, 0));
        add("none", new NonZero(), NdArray.zeros(DType.I8, 1023));
        add("all", new NonZero(), OpCases.f32(1, Double.NaN, -1, Double.NEGATIVE_INFINITY));
        add("negative zero", new NonZero(), OpCases.f32(-0.0, 0.0, 1e-40));
        add("long", new NonZero(), repeated(DType.I64, 3, 11, 31));
        add("empty", new Unique(0, true), NdArray.zeros(DType.F32, 0));
        add("empty slices", new Unique(0, true), NdArray.zeros(DType.F32, 3, 0));
        add("NaN", new Unique(0, true), OpCases.f32(Double.NaN, 1, -0.0, Double.NaN, 0, 1, Double.NEGATIVE_INFINITY));
        add("NaN as met", new Unique(0, false), OpCases.f32(Double.NaN, 1, Double.NaN, 0));
        add("none", new Compress(0), OpCases.f32(1, 2), NdArray.zeros(DType.BOOL, 2));
        add("short condition", new Compress(0), OpCases.f32(1, 2, 3), NdArray.of(TensorType.of(DType.BOOL, 2), 0, 1L));
        add("no condition", new Compress(0), OpCases.f32(1, 2, 3), NdArray.zeros(DType.BOOL, 0));
        add("none", new FirstOf(0), OpCases.f32(1, 2), OpCases.i64(new long[] {1}, 0));
        add("all", new FirstOf(0), OpCases.f32(1, 2), OpCases.i64(new long[0], 2));
    }

    /** More than a chunk of a device. */
    private void large() {
        add("scalar", new NonZeroIndices(), OpCases.f32(new long[0], -0.0));
        add("empty", new NonZeroIndices(), NdArray.zeros(DType.F32, 3, 0));
        add("negative zero", new NonZeroIndices(), OpCases.f32(-0.0, 0.0, 1e-40, Double.NaN));
        add("large", new NonZeroIndices(), repeated(DType.F16, 7, 1, 1001, 3));
        for (boolean sorted : List.of(true, false)) {
            String name = sorted ? " sorted" : " as met";
            add("large" + name, new UniqueIndices(0, sorted), random.integers(DType.F32, -999, 999, 5003));
            add("large i64" + name, new UniqueIndices(0, sorted), random.integers(DType.I64, -9, 9, 2500));
            add("large slices" + name, new UniqueIndices(1, sorted), random.integers(DType.I8, 0, 2, 2, 1500, 3));
            add("one" + name, new UniqueIndices(0, sorted), OpCases.f32(3));
            add("empty" + name, new UniqueIndices(0, sorted), NdArray.zeros(DType.F32, 0));
            add("empty slices" + name, new UniqueIndices(0, sorted), NdArray.zeros(DType.F32, 3, 0));
            add("NaN" + name, new UniqueIndices(0, sorted), OpCases.f32(Double.NaN, 1, -0.0, Double.NaN, 0, 1, -1));
        }
        NdArray overlap = OpCases.f32(new long[0], 0.5);
        NdArray least = OpCases.f32(new long[0], 0.25);
        NdArray boxes = random.floats(DType.F32, 0.0625, 1, 2, 700, 4);
        NdArray scores = random.floats(DType.F32, 0.0625, 1, 2, 2, 700);
        add("many", new BoxSelection(Long.MAX_VALUE, false), boxes, scores, overlap, least);
        add("none asked for", new BoxSelection(0, false), boxes, scores, overlap, least);
        add(
                "no boxes",
                new BoxSelection(9, false),
                NdArray.zeros(DType.F32, 1, 0, 4),
                NdArray.zeros(DType.F32, 1, 2, 0),
                overlap,
                least);
    }

    private void slices() {
        NdArray rows = NdArray.of(TensorType.of(DType.I32, 4, 3), 1, 0, 0, 1, 0, 0, 2, 3, 4, -1, 9, 9L);
        for (boolean sorted : List.of(true, false)) {
            add("rows" + (sorted ? "" : " as met"), new Unique(0, sorted), rows);
        }
        add("columns", new Unique(1, true), rows);
        add("middle", new Unique(1, true), repeated(DType.I8, 2, 9, 2));
    }

    private void boxes() {
        NdArray boxes = random.floats(DType.F32, 0.0625, 4, 2, 31, 4);
        NdArray scores = random.floats(DType.F32, 0.0625, 1, 2, 3, 31);
        NdArray overlap = OpCases.f32(new long[0], 0.25);
        NdArray least = OpCases.f32(new long[0], 0.125);
        for (boolean center : List.of(false, true)) {
            String name = center ? "by center" : "by corners";
            add(name, new BoxSelection(5, center), boxes, scores, overlap, least);
            add(name, new NonMaxSuppression(center), boxes, scores, OpCases.i64(new long[] {1}, 5), overlap, least);
        }
        add(
                "no boxes asked for",
                new NonMaxSuppression(false),
                boxes,
                scores,
                OpCases.i64(new long[0], 0),
                overlap,
                least);
        add("all asked for", new BoxSelection(Long.MAX_VALUE, false), boxes, scores, overlap, least);
        add(
                "no boxes",
                new NonMaxSuppression(false),
                NdArray.zeros(DType.F32, 1, 0, 4),
                NdArray.zeros(DType.F32, 1, 2, 0),
                OpCases.i64(new long[0], 9),
                overlap,
                least);
        NdArray odd = OpCases.f32(new long[] {1, 4, 4}, 0, 0, 1, 1, Double.NaN, 0, 1, 1, 0, 0, 0, 5, 1, 1, 0, 0);
        NdArray tied = OpCases.f32(new long[] {1, 1, 4}, 0.5, 0.5, Double.NaN, 0.5);
        add("NaN, no area and ties", new BoxSelection(4, false), odd, tied, overlap, least);
    }
}
