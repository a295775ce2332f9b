package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.Accepts;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import java.util.ArrayList;
import java.util.List;

/** Unary, binary, comparison, selection, regions. */
final class OpCasesElementwise {
    private static final double NAN = Double.NaN;
    private static final double INF = Double.POSITIVE_INFINITY;

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(1);

    private OpCasesElementwise() {}

    static List<OpCase> all() {
        OpCasesElementwise all = new OpCasesElementwise();
        for (UnaryFn fn : UnaryFn.values()) {
            all.unary(fn);
        }
        for (BinaryFn fn : BinaryFn.values()) {
            all.binary(fn);
        }
        for (CompareFn fn : CompareFn.values()) {
            all.compare(fn);
        }
        all.where();
        all.regions();
        return List.copyOf(all.cases);
    }

    private static Unary usual(UnaryFn fn) {
        UnaryFn.Parameters usual = fn.typical().getFirst();
        return new Unary(fn, usual.alpha(), usual.beta());
    }

    private void unary(UnaryFn fn) {
        Unary op = usual(fn);
        String word = fn.word();
        if (fn.accepts().test(DType.BOOL)) {
            cases.add(OpCase.exact(word, op, random.array(DType.BOOL, 33)));
        }
        if (fn.accepts().test(DType.F32)) {
            for (DType type : OpCases.FLOATS) {
                cases.add(OpCase.close(word + " " + type, op, inDomain(op, type, 7, 19)));
            }
            for (long size : new long[] {0, 1, 31, 32, 1009}) {
                cases.add(OpCase.close(word + " f32 of " + size, op, inDomain(op, DType.F32, size)));
            }
            cases.add(OpCase.close(word + " scalar", op, inDomain(op, DType.F32)));
            cases.add(OpCase.close(
                    word + " at the edges", op, OpCases.f32(NAN, INF, -INF, 0.0, -0.0, 1, -1, 0.5, -0.5, 2.5, -2.5)));
        }
        if (fn.accepts().test(DType.I32)) {
            for (DType type : OpCases.INTEGERS) {
                NdArray x = random.array(type, 33);
                x.set(0, Elements.min(type));
                x.set(1, Elements.max(type));
                x.set(2, 0L);
                cases.add(OpCase.exact(word + " " + type, op, x));
            }
        }
    }

    /**
     * Numbers from -4 to 4, those without a result replaced by their magnitudes or by reciprocals, which then have one.
     */
    private NdArray inDomain(Unary op, DType type, long... sizes) {
        NdArray x = random.floats(type, -4, 4, sizes);
        for (int i = 0; i < x.size(); i++) {
            double drawn = x.get(i);
            for (double other : new double[] {Math.abs(drawn), 1 / drawn, 1 / Math.abs(drawn)}) {
                if (Double.isNaN(op.apply(x.get(i)))) {
                    x.set(i, Tolerance.rounded(type, other));
                }
            }
        }
        return x;
    }

    private void binary(BinaryFn fn) {
        Binary op = new Binary(fn);
        String word = fn.word();
        boolean logical = fn.accepts() == Accepts.BOOL;
        boolean shift = fn == BinaryFn.SHL || fn == BinaryFn.SHR;
        if (logical) {
            broadcasts(word, op, DType.BOOL);
            return;
        }
        if (fn.accepts().test(DType.F32)) {
            OpCases.FLOATS.forEach(type -> broadcasts(word, op, type));
            cases.add(OpCase.close(
                    word + " at the edges",
                    op,
                    OpCases.f32(NAN, 1, INF, -INF, 0.0, -0.0, 7, -7, 7, -7, -INF, NAN),
                    OpCases.f32(1, NAN, -INF, INF, -0.0, 0.0, 3, 3, -3, -3, 1, NAN)));
        }
        if (shift) {
            for (DType type : OpCases.INTEGERS) {
                NdArray counts = random.integers(type, 0, type.bits() + 2, 33);
                cases.add(OpCase.exact(word + " " + type, op, random.array(type, 33), counts));
            }
        } else if (fn == BinaryFn.POW) {
            for (DType type : OpCases.INTEGERS) {
                NdArray powers = random.integers(type, 0, 5, 33);
                cases.add(OpCase.exact(word + " " + type, op, random.array(type, 33), powers));
            }
            cases.add(
                    OpCase.exact("pow to negative powers", op, OpCases.i32(2, -1, -1, 1), OpCases.i32(-1, -1, -2, -3)));
        } else if (fn.accepts().test(DType.I32)) {
            OpCases.INTEGERS.forEach(type -> broadcasts(word, op, type));
            cases.add(OpCase.exact(
                    word + " of the extremes",
                    op,
                    OpCases.i32(Integer.MIN_VALUE, Integer.MAX_VALUE, 7, -7, 7, -7),
                    OpCases.i32(-1, 2, 3, 3, -3, -3)));
        }
    }

    private void broadcasts(String word, Binary op, DType type) {
        long[][][] pairs = {{{33}, {33}}, {{3, 1, 5}, {4, 1}}, {{}, {2, 3}}, {{7, 31}, {}}, {{0, 3}, {1, 3}}, {{1}, {0}}
        };
        for (long[][] pair : pairs) {
            // pow of a negative base is NaN nearly everywhere
            NdArray a = op.fn() == BinaryFn.POW && type.isFloat()
                    ? random.floats(type, 0.25, 2, pair[0])
                    : random.array(type, pair[0]);
            NdArray b = random.array(type, pair[1]);
            String name = word + " " + a.type() + " " + b.type();
            cases.add(type.isFloat() ? OpCase.close(name, op, a, b) : OpCase.exact(name, op, a, b));
        }
    }

    private void compare(CompareFn fn) {
        Compare op = new Compare(fn);
        String word = fn.word();
        for (DType type : OpCases.wholeBytes()) {
            if (fn.accepts().test(type)) {
                NdArray a = random.array(type, 3, 1, 7);
                NdArray b = random.array(type, 5, 1);
                b.copy(0, a, 0);
                cases.add(OpCase.exact(word + " " + type, op, a, b));
            }
        }
        cases.add(OpCase.exact(
                word + " at the edges",
                op,
                OpCases.f32(NAN, NAN, INF, -INF, 0.0, 1),
                OpCases.f32(NAN, 1, INF, INF, -0.0, NAN)));
        cases.add(OpCase.exact(
                word + " with the largest u64",
                op,
                random.array(DType.U64, 5),
                NdArray.of(TensorType.of(DType.U64, 1), -1L)));
    }

    private void where() {
        for (DType type : OpCases.wholeBytes()) {
            cases.add(OpCase.exact(
                    "where " + type,
                    new Where(),
                    random.array(DType.BOOL, 3, 1, 1),
                    random.array(type, 5, 1),
                    random.array(type, 7)));
        }
        NdArray condition = NdArray.of(TensorType.of(DType.BOOL, 2, 1), 1L, 0L);
        cases.add(OpCase.exact(
                "where keeps NaN out", new Where(), condition, OpCases.f32(new long[0], 1), OpCases.f32(NAN, 2, INF)));
        cases.add(OpCase.exact(
                "where of nothing",
                new Where(),
                random.array(DType.BOOL, 0, 1),
                random.array(DType.F32, 3),
                random.array(DType.F32)));
    }

    private void regions() {
        Region gelu = new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                        new Region.Step(Unary.of(UnaryFn.GELU), List.of(2)),
                        new Region.Step(new Binary(BinaryFn.MUL), List.of(3, 0))),
                List.of(2, 0));
        for (DType type : OpCases.FLOATS) {
            cases.add(
                    OpCase.close("region bias gelu " + type, gelu, random.array(type, 5, 33), random.array(type, 33)));
        }
        cases.add(OpCase.close("region of nothing", gelu, random.array(DType.F32, 0, 3), random.array(DType.F32, 3)));
        Region mixed = new Region(
                List.of(
                        new Region.Step(new Compare(CompareFn.GT), List.of(0, 1)),
                        new Region.Step(new Where(), List.of(2, 0, 1)),
                        new Region.Step(new Cast(DType.I32, true), List.of(3))),
                List.of(0, 1, 2));
        cases.add(OpCase.close(
                "region of several types", mixed, random.array(DType.F32, 3, 1), random.array(DType.F32, 1, 7)));
    }
}
