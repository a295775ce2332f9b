package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.Accepts;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reductions, positions of extremes, running sums, top-k. */
final class OpCasesReduction {
    private static final double NAN = Double.NaN;

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(4);

    private OpCasesReduction() {}

    static List<OpCase> all() {
        OpCasesReduction all = new OpCasesReduction();
        for (ReduceFn fn : ReduceFn.values()) {
            all.reduce(fn);
        }
        all.argReduce();
        all.cumulative();
        all.topK();
        return List.copyOf(all.cases);
    }

    private void reduce(ReduceFn fn) {
        String word = fn.word();
        boolean logical = fn.accepts() == Accepts.BOOL;
        boolean extreme = !fn.hasIdentity();
        boolean root =
                List.of(ReduceFn.L2, ReduceFn.LOG_SUM, ReduceFn.LOG_SUM_EXP).contains(fn);
        List<DType> types = new ArrayList<>();
        if (fn.accepts().test(DType.BOOL)) {
            types.add(DType.BOOL);
        }
        if (!logical) {
            types.addAll(OpCases.FLOATS);
            // a truncated root depends on the last bit of the float before it
            types.addAll(root ? List.of() : OpCases.INTEGERS);
        }
        for (DType type : types) {
            for (List<Integer> axes :
                    List.of(List.of(0), List.of(1), List.of(2), List.of(0, 2), List.of(0, 1, 2), List.<Integer>of())) {
                reduce(word, new Reduce(fn, axes, axes.size() == 1), input(fn, type, 5, 7, 3), 105);
            }
        }
        DType usual = logical ? DType.BOOL : DType.F32;
        for (long width : new long[] {1, 31, 32, 33, 1025, 10007}) {
            NdArray rows =
                    fn == ReduceFn.PROD ? random.floats(usual, 0.99, 1.01, 2, width) : input(fn, usual, 2, width);
            reduce(word, new Reduce(fn, List.of(1), false), rows, width);
            NdArray columns =
                    fn == ReduceFn.PROD ? random.floats(usual, 0.99, 1.01, width, 3) : input(fn, usual, width, 3);
            reduce(word, new Reduce(fn, List.of(0), true), columns, width);
        }
        boolean plain =
                List.of(ReduceFn.SUM, ReduceFn.MEAN, ReduceFn.MAX, ReduceFn.MIN).contains(fn);
        if (plain) { // positions of images whose channels lie innermost, in whole packs of 16 bytes
            for (DType type : OpCases.FLOATS) {
                reduce(word, new Reduce(fn, List.of(1, 2), false), input(fn, type, 3, 7, 5, 48), 35);
                reduce(word, new Reduce(fn, List.of(1), true), input(fn, type, 2, 300, 264), 300);
            }
        }
        reduce(word, new Reduce(fn, List.of(), false), input(fn, usual), 1);
        reduce(word, new Reduce(fn, List.of(1), false), NdArray.zeros(usual, 0, 4), 1);
        reduce(word, new Reduce(fn, List.of(0), false), NdArray.zeros(usual, 4, 3, 0), 4);
        if (!extreme) {
            reduce(word, new Reduce(fn, List.of(2), true), NdArray.zeros(usual, 2, 2, 0, 3), 1);
        } else {
            reduce(word, new Reduce(fn, List.of(1), false), NdArray.zeros(usual, 0, 0), 1);
        }
        if (!logical) {
            NdArray bad = OpCases.f32(
                    new long[] {4, 3},
                    1,
                    NAN,
                    2,
                    Double.POSITIVE_INFINITY,
                    1,
                    2,
                    Double.NEGATIVE_INFINITY,
                    1,
                    2,
                    1,
                    2,
                    3);
            reduce(word + " bad rows", new Reduce(fn, List.of(1), false), bad, 3);
        }
    }

    private NdArray input(ReduceFn fn, DType type, long... sizes) {
        boolean positive = type.isFloat() && (fn == ReduceFn.LOG_SUM || fn == ReduceFn.PROD);
        return positive ? random.floats(type, 0.75, 1.25, sizes) : random.array(type, sizes);
    }

    private void reduce(String word, Reduce op, NdArray x, long length) {
        String name = "reduce " + word + " " + op.axes() + " of " + x.type();
        boolean exact =
                op.fn() == ReduceFn.MAX || op.fn() == ReduceFn.MIN || !x.dtype().isFloat();
        cases.add(exact ? OpCase.exact(name, op, x) : OpCase.sums(name, length, op, x));
    }

    private void argReduce() {
        for (boolean max : new boolean[] {true, false}) {
            for (boolean last : new boolean[] {true, false}) {
                String word = "arg_reduce " + (max ? "max" : "min") + (last ? " last " : " ");
                List<DType> types = new ArrayList<>(OpCases.FLOATS);
                types.addAll(OpCases.INTEGERS);
                for (DType type : types) {
                    for (int axis = 0; axis < 3; axis++) {
                        ArgReduce op = new ArgReduce(max, axis, axis == 1, last);
                        cases.add(OpCase.exact(word + axis + " " + type, op, random.shuffled(type, 3, 5, 7)));
                    }
                }
                ArgReduce row = new ArgReduce(max, 1, false, last);
                cases.add(OpCase.exact(
                        word + "of ties", row, OpCases.f32(new long[] {2, 5}, 1, 3, 1, 3, 2, 0.0, -0.0, 0.0, 0, 0)));
                cases.add(OpCase.exact(
                        word + "of NaN", row, OpCases.f32(new long[] {2, 4}, 1, NAN, NAN, 3, NAN, 1, 2, NAN)));
                for (long width : new long[] {1, 31, 32, 33, 1025}) {
                    cases.add(OpCase.exact(word + "of " + width, row, random.shuffled(DType.F32, 3, width)));
                }
                cases.add(OpCase.exact(word + "of a long row", row, random.integers(DType.F32, -999, 999, 1, 20011)));
                cases.add(OpCase.exact(
                        word + "of long columns",
                        new ArgReduce(max, 0, false, last),
                        random.integers(DType.I16, -999, 999, 10007, 3)));
                for (DType type : List.of(DType.F8E4M3, DType.F8E5M2)) {
                    cases.add(OpCase.exact(word + type, row, random.array(type, 3, 33)));
                }
                cases.add(OpCase.exact(word + "of no rows", row, NdArray.zeros(DType.F32, 0, 3)));
            }
        }
    }

    private void cumulative() {
        for (CumulativeFn fn : CumulativeFn.values()) {
            for (int mode = 0; mode < 4; mode++) {
                boolean exclusive = (mode & 1) != 0;
                boolean reverse = (mode & 2) != 0;
                String word = "cumulative " + fn.name().toLowerCase(Locale.ROOT) + (exclusive ? " exclusive" : "")
                        + (reverse ? " reverse" : "");
                for (DType type : OpCases.FLOATS) {
                    NdArray x = fn == CumulativeFn.PROD
                            ? random.floats(type, 0.75, 1.25, 3, 33, 2)
                            : random.array(type, 3, 33, 2);
                    cases.add(OpCase.sums(word + " " + type, 33, new Cumulative(fn, 1, exclusive, reverse), x));
                }
                for (DType type : OpCases.INTEGERS) {
                    cases.add(OpCase.exact(
                            word + " " + type, new Cumulative(fn, 0, exclusive, reverse), random.array(type, 5, 3)));
                }
                Cumulative first = new Cumulative(fn, 0, exclusive, reverse);
                Cumulative second = new Cumulative(fn, 1, exclusive, reverse);
                cases.add(OpCase.exact(word + " of small numbers", first, OpCases.f32(1, 2, 3, 4, 5)));
                cases.add(OpCase.exact(word + " of one", first, OpCases.f32(new long[] {1, 2}, 1, 2)));
                cases.add(OpCase.exact(
                        word + " of two tiles and one", second, random.integers(DType.I64, 1, 1, 2, 513, 3)));
                boolean sum = fn == CumulativeFn.SUM;
                for (DType type : List.of(DType.F32, DType.F64, DType.I64, DType.U8)) {
                    boolean exact = sum || !type.isFloat();
                    for (long[] sizes : new long[][] {{1, 20011}, {3, 1500}, {301, 35}, {1, 5003, 3}}) {
                        NdArray x = exact ? random.integers(type, 0, 9, sizes) : random.floats(type, 0.99, 1.01, sizes);
                        String name = word + " of long lanes " + x.type();
                        cases.add(exact ? OpCase.exact(name, second, x) : OpCase.sums(name, sizes[1], second, x));
                    }
                }
                cases.add(OpCase.exact(word + " of nothing", second, NdArray.zeros(DType.F32, 2, 0)));
            }
        }
    }

    private void topK() {
        NdArray ties = OpCases.f32(1, 2, 5, 4, 5);
        for (long k = 0; k <= 5; k++) {
            cases.add(OpCase.exact("top_k " + k + " of ties", new TopK(k, 0, true, true), ties));
            cases.add(OpCase.exact("top_k smallest " + k + " of ties", new TopK(k, 0, false, true), ties));
        }
        List<DType> types = new ArrayList<>(OpCases.FLOATS);
        types.addAll(OpCases.INTEGERS);
        for (DType type : types) {
            for (boolean largest : new boolean[] {true, false}) {
                String word = "top_k " + (largest ? "largest " : "smallest ") + type;
                cases.add(OpCase.exact(word, new TopK(3, 1, largest, true), random.shuffled(type, 2, 7, 3)));
                cases.add(OpCase.exact(word + " rows", new TopK(5, 1, largest, true), random.shuffled(type, 3, 33)));
            }
        }
        for (boolean largest : new boolean[] {true, false}) {
            String word = "top_k " + (largest ? "largest" : "smallest");
            for (DType type : List.of(DType.F32, DType.F16, DType.F64, DType.I64, DType.U8)) {
                NdArray rows = random.integers(type, type.isUnsigned() ? 0 : -99, 99, 2, 3001);
                cases.add(OpCase.exact(word + " of many ties " + type, new TopK(100, 1, largest, true), rows));
                cases.add(OpCase.exact(word + " of all " + type, new TopK(3001, 1, largest, true), rows));
            }
            NdArray columns = random.shuffled(DType.F32, 2500, 2);
            cases.add(OpCase.exact(word + " of long columns", new TopK(7, 0, largest, true), columns));
            cases.add(OpCase.exact(word + " of all columns", new TopK(2500, 0, largest, true), columns));
            cases.add(OpCase.exact(
                    word + " one of a long row", new TopK(1, 0, largest, true), random.shuffled(DType.I32, 5003)));
            cases.add(OpCase.exact(word + " f8", new TopK(5, 1, largest, true), random.array(DType.F8E4M3, 3, 33)));
            cases.add(OpCase.exact(
                    word + " of many rows", new TopK(3, 1, largest, true), random.integers(DType.F32, -9, 9, 301, 13)));
        }
        cases.add(OpCase.exact("top_k of NaN", new TopK(3, 0, true, true), OpCases.f32(1, NAN, 7, NAN, 3)));
        cases.add(OpCase.exact("top_k smallest of NaN", new TopK(4, 0, false, true), OpCases.f32(1, NAN, 7, NAN, 3)));
        cases.add(OpCase.exact("top_k of no rows", new TopK(2, 1, true, true), NdArray.zeros(DType.F32, 0, 3)));
        cases.add(
                OpCase.exact("top_k of a long row", new TopK(40, 1, true, true), random.shuffled(DType.F32, 1, 4097)));
    }
}
