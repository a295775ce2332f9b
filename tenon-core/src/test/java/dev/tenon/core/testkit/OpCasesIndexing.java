package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Gathers, scatters, one-hot. */
final class OpCasesIndexing {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(6);

    private OpCasesIndexing() {}

    static List<OpCase> all() {
        OpCasesIndexing all = new OpCasesIndexing();
        OpCases.wholeBytes().forEach(all::everyType);
        List.of(DType.I4, DType.U4).forEach(all::packed);
        all.gather();
        all.scatter();
        all.manyUpdates();
        all.oneHot();
        return List.copyOf(all.cases);
    }

    private void add(String name, Op op, NdArray... inputs) {
        cases.add(OpCase.exact(op.mnemonic() + " " + name, op, inputs));
    }

    private void everyType(DType type) {
        NdArray data = random.array(type, 4, 5, 3);
        String name = type.toString();
        for (DType indices : List.of(DType.I32, DType.I64)) {
            String both = name + " by " + indices;
            add(both, new Gather(1), data, random.integers(indices, -5, 4, 2, 7));
            add(both, new GatherElements(1), data, random.integers(indices, -5, 4, 3, 7, 2));
            NdArray distinct = NdArray.of(TensorType.of(indices, 1, 4, 1), 3, -5, 1, -1);
            add(both, new ScatterElements(1, ScatterFn.REPLACE), data, distinct, random.array(type, 1, 4, 1));
        }
        add(name, new GatherNd(0), data, random.integers(DType.I64, -3, 2, 6, 2));
        add(name + " batched", new GatherNd(1), data, random.integers(DType.I64, 0, 2, 4, 3, 1));
        add(
                name,
                new ScatterNd(ScatterFn.REPLACE),
                data,
                OpCases.i64(new long[] {2, 1}, 2, -4),
                random.array(type, 2, 5, 3));
        add(name, new OneHot(5, 1), random.integers(DType.I64, -6, 6, 3, 4), random.array(type, 2));
    }

    /** Elements that share bytes. */
    private void packed(DType type) {
        NdArray data = random.array(type, 3, 5, 3);
        String name = type.toString();
        add(name, new Gather(1), data, random.integers(DType.I64, -5, 4, 2, 7));
        add(name, new GatherElements(1), data, random.integers(DType.I32, -5, 4, 3, 7, 2));
        add(name, new GatherNd(0), data, random.integers(DType.I64, -3, 2, 6, 2));
        add(
                name,
                new ScatterNd(ScatterFn.REPLACE),
                data,
                OpCases.i64(new long[] {2, 1}, 2, -3),
                random.array(type, 2, 5, 3));
        add(name, new OneHot(5, 1), random.integers(DType.I64, -6, 6, 3, 3), random.array(type, 2));
    }

    private void gather() {
        NdArray data = OpCases.f32(10, 20, 30);
        add("negative", new Gather(0), data, OpCases.i32(-1, -3, 1));
        add("by nothing", new Gather(0), data, NdArray.zeros(DType.I64, 0));
        add("by a scalar", new Gather(0), random.array(DType.F32, 3, 5), OpCases.i64(new long[0], -1));
        add("rows", new Gather(0), random.array(DType.F16, 101, 33), random.integers(DType.I64, 0, 100, 2, 31));
        add("columns", new Gather(1), random.array(DType.F32, 7, 33), random.integers(DType.I32, -33, 32, 65));
        add("of nothing by nothing", new Gather(0), NdArray.zeros(DType.F32, 0, 3), NdArray.zeros(DType.I64, 2, 0));
        add("axis 0", new GatherElements(0), random.array(DType.F32, 5, 3), random.integers(DType.I64, 0, 4, 7, 2));
        add("by nothing", new GatherElements(0), random.array(DType.F32, 5, 3), NdArray.zeros(DType.I64, 0, 3));
        add(
                "whole tuples",
                new GatherNd(0),
                random.array(DType.F32, 5, 3),
                OpCases.i64(new long[] {3, 2}, 0, 0, 4, -1, -5, 1));
        add("by nothing", new GatherNd(0), random.array(DType.F32, 5, 3), NdArray.zeros(DType.I64, 0, 2));
        add(
                "long slices",
                new GatherNd(1),
                random.array(DType.F32, 2, 9, 64),
                random.integers(DType.I64, -9, 8, 2, 11, 1));
        add("empty tuples", new GatherNd(0), random.array(DType.F32, 2, 3), NdArray.zeros(DType.I64, 4, 0));
    }

    private void scatter() {
        for (ScatterFn fn : ScatterFn.values()) {
            if (fn == ScatterFn.REPLACE) {
                continue;
            }
            String word = fn.name().toLowerCase(Locale.ROOT);
            List<DType> types = new ArrayList<>(OpCases.FLOATS);
            types.addAll(OpCases.INTEGERS);
            for (DType type : types) {
                NdArray data = random.array(type, 5, 4);
                NdArray twice = random.integers(DType.I64, -5, 4, 7, 3);
                OpCase elements = OpCase.sums(
                        "scatter_elements " + word + " " + type,
                        7,
                        new ScatterElements(0, fn),
                        data,
                        twice,
                        random.array(type, 7, 3));
                OpCase slices = OpCase.sums(
                        "scatter_nd " + word + " " + type,
                        7,
                        new ScatterNd(fn),
                        data,
                        random.integers(DType.I64, -5, 4, 7, 1),
                        random.array(type, 7, 4));
                cases.add(elements);
                cases.add(slices);
            }
        }
        ScatterElements sum = new ScatterElements(0, ScatterFn.ADD);
        NdArray zero = NdArray.zeros(DType.F32, 1);
        add("in index order", sum, zero, NdArray.zeros(DType.I64, 4), OpCases.f32(1e8, 1, -1e8, 1));
        double[] ones = new double[1000];
        java.util.Arrays.fill(ones, 1);
        add(
                "bf16 past its own precision",
                sum,
                NdArray.zeros(DType.BF16, 1),
                NdArray.zeros(DType.I32, 1000),
                NdArray.of(TensorType.of(DType.BF16, 1000), ones));
        add("by nothing", sum, OpCases.f32(1, 2), NdArray.zeros(DType.I64, 0), NdArray.zeros(DType.F32, 0));
        add(
                "by nothing",
                new ScatterNd(ScatterFn.ADD),
                OpCases.f32(1, 2),
                NdArray.zeros(DType.I64, 0, 1),
                NdArray.zeros(DType.F32, 0));
        NdArray bad = OpCases.f32(Double.NaN, 1, 2);
        add("NaN", new ScatterElements(0, ScatterFn.MAX), bad, OpCases.i32(0, 1), OpCases.f32(5, Double.NaN));
    }

    /** More updates than are compared with one another. */
    private void manyUpdates() {
        for (ScatterFn fn : ScatterFn.values()) {
            String word = fn.name().toLowerCase(Locale.ROOT) + " many ";
            for (DType type : List.of(DType.F32, DType.I64, DType.I8)) {
                boolean product = fn == ScatterFn.MUL && type.isFloat();
                NdArray data = product ? random.floats(type, 0.75, 1.25, 40, 70) : random.array(type, 40, 70);
                NdArray updates = product ? random.floats(type, 0.75, 1.25, 40, 75) : random.array(type, 40, 75);
                NdArray to = random.integers(DType.I64, -70, 69, 40, 75);
                cases.add(OpCase.sums(
                        "scatter_elements " + word + type, 9, new ScatterElements(1, fn), data, to, updates));
                NdArray slices = product ? random.floats(type, 0.75, 1.25, 1500, 8) : random.array(type, 1500, 8);
                cases.add(OpCase.sums(
                        "scatter_nd " + word + type,
                        64,
                        new ScatterNd(fn),
                        data.reshaped(Shape.of(5, 70, 8)),
                        random.integers(DType.I64, -5, 4, 1500, 2),
                        slices));
            }
        }
        NdArray one = NdArray.zeros(DType.I64, 1500);
        add(
                "many to one",
                new ScatterElements(0, ScatterFn.ADD),
                OpCases.f32(1, 2),
                one,
                random.integers(DType.F32, -9, 9, 1500));
        add(
                "the last of many",
                new ScatterElements(0, ScatterFn.REPLACE),
                OpCases.f32(1, 2),
                one,
                random.integers(DType.F32, -9, 9, 1500));
        add(
                "empty tuples",
                new ScatterNd(ScatterFn.ADD),
                OpCases.f32(1, 2),
                NdArray.zeros(DType.I64, 3, 0),
                random.integers(DType.F32, -9, 9, 3, 2));
    }

    private void oneHot() {
        NdArray values = OpCases.f32(-1, 2);
        add("scalar", new OneHot(3, 0), OpCases.i64(new long[0], -1), values);
        add("first axis", new OneHot(33, 0), OpCases.i32(0, 32, 33, -33, -34), values);
        add("last axis", new OneHot(4, 1), OpCases.i32(0, 3, 4), values);
        add("of nothing", new OneHot(4, 1), NdArray.zeros(DType.I64, 0), values);
        add("in packs", new OneHot(32, 1), random.integers(DType.I32, -40, 40, 21), random.array(DType.F16, 2));
        add("no depth", new OneHot(0, 1), OpCases.i32(0, 1), values);
    }
}
