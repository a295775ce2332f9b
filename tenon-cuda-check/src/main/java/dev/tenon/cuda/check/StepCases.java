package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Elementwise operations, movement, gathers and reductions through their lowerings, at sizes where their fast forms are
 * taken.
 */
final class StepCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private StepCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : FLOATS) {
            for (long[] bias : new long[][] {{3, 67, 64}, {67, 63}, {1, 1}, {1025, 32}}) {
                long[] row = {bias[bias.length - 1]};
                add(cases, "elementwise", new Binary(BinaryFn.ADD), 1, random(type, bias), random(type, row));
                add(cases, "elementwise", biasGelu(), 1, random(type, bias), random(type, row));
                add(cases, "elementwise", chain(5, 0), 4, random(type, bias), random(type, row));
                add(cases, "elementwise", chain(20, 19), 20, random(type, bias), random(type, row));
            }
            add(cases, "elementwise", new Binary(BinaryFn.MUL), 1, random(type, 65, 33), random(type));
            add(cases, "elementwise", new Binary(BinaryFn.SUB), 1, random(type, 65, 1), random(type, 1, 64));
            add(cases, "elementwise", new Compare(CompareFn.LT), 0, random(type, 31, 64), random(type, 64));
            add(cases, "elementwise", Unary.of(UnaryFn.TANH), 1, random(type, 1023));
            add(cases, "elementwise", masked(type), 2, random(DType.I64, 3, 1, 1, 64), random(type, 3, 2, 33, 64));
            for (ReduceFn fn : List.of(ReduceFn.L1, ReduceFn.L2, ReduceFn.MIN, ReduceFn.PROD)) {
                add(cases, "reduce", reduce(fn, 1), 48, random(type, 5, 48));
                add(cases, "reduce", reduce(fn, 0), 48, random(type, 48, 65));
            }
            for (ReduceFn fn : List.of(ReduceFn.SUM, ReduceFn.MEAN, ReduceFn.MAX, ReduceFn.LOG_SUM_EXP)) {
                add(cases, "reduce", reduce(fn, 1), 1023, random(type, 5, 1023));
                add(cases, "reduce", reduce(fn, 0), 1023, random(type, 1023, 65));
                add(cases, "reduce", reduce(fn, 0), 1023, random(type, 1023, 264));
                add(cases, "reduce", reduce(fn, 1), 1040, random(type, 67, 1040));
                add(cases, "reduce", reduce(fn, 1), 16, random(type, 37, 16));
                add(cases, "reduce", reduce(fn, 1), 40_960, random(type, 2, 40_960));
                add(cases, "reduce", reduce(fn, 1), 200, random(type, 5, 200, 16));
                add(cases, "reduce", reduce(fn, 0), 100_003, random(type, 100_003));
                add(cases, "reduce", reduce(fn, 0, 2), 15_000, random(type, 300, 7, 50));
            }
        }
        for (DType type : List.of(DType.U8, DType.F16, DType.F32, DType.I64)) {
            add(cases, "elementwise", new Where(), 0, random(DType.BOOL, 33, 1), random(type, 33, 64), random(type));
            for (long[] sizes : new long[][] {{2, 33, 4, 64}, {3, 31, 5, 17}}) {
                for (List<Integer> order : List.of(List.of(0, 2, 1, 3), List.of(0, 2, 3, 1), List.of(3, 2, 1, 0))) {
                    add(cases, "movement", new Transpose(order), 0, random(type, sizes));
                }
            }
            add(cases, "movement", new Transpose(List.of(1, 0)), 0, random(type, 1025, 67));
            add(cases, "movement", new Transpose(List.of(1, 0)), 0, random(type, 144, 80));
            add(cases, "movement", new Transpose(List.of(2, 0, 1)), 0, random(type, 3, 16, 208));
            add(cases, "movement", new Expand(List.of(5L, 33L, 64L)), 0, random(type, 33, 1));
            add(cases, "movement", new Concat(1), 0, random(type, 3, 5, 16), random(type, 3, 1, 16));
            Slice backwards = new Slice(List.of(30L, 8L), List.of(16L, 24L), List.of(-2L, 1L));
            add(cases, "movement", backwards, 0, random(type, 33, 64));
            add(cases, "gather", new Gather(0), 0, random(type, 67, 64), indices(DType.I64, 67, 3, 31));
            add(cases, "gather", new Gather(1), 0, random(type, 3, 67, 5), indices(DType.I32, 67, 33));
        }
        for (ReduceFn fn : List.of(ReduceFn.SUM, ReduceFn.MIN, ReduceFn.MEAN)) {
            add(cases, "reduce", reduce(fn, 0), 0, random(DType.I32, 100_003));
            add(cases, "reduce", reduce(fn, 0), 0, random(DType.U8, 257, 33));
        }
        cases.add(new KernelCase("elementwise", "i32 divided by 0", StepCases::division));
        cases.add(new KernelCase("gather", "index out of range", StepCases::outOfRange));
        return cases;
    }

    private static void add(
            List<KernelCase> cases, String kernel, Primitive op, long reductionLength, Input... inputs) {
        List<Input> all = List.of(inputs);
        String what = op + " of "
                + String.join(
                        " ", all.stream().map(input -> input.type().toString()).toList());
        cases.add(new KernelCase(
                kernel,
                what.length() > 160 ? what.substring(0, 160) : what,
                stage -> new StepRun(stage)
                        .check(op, all.stream().map(Input::values).toList(), Math.max(1, reductionLength))));
    }

    /** y = gelu(x + bias). */
    private static Region biasGelu() {
        return new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                        new Region.Step(Unary.of(UnaryFn.GELU), List.of(2))),
                List.of(1));
    }

    /** So many steps on two inputs, with two of its values read again later. */
    private static Region chain(int steps, int result) {
        List<Region.Step> all = new ArrayList<>();
        all.add(new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)));
        all.add(new Region.Step(Unary.of(UnaryFn.SIGMOID), List.of(2)));
        for (int i = 2; i < steps; i++) {
            BinaryFn fn = i % 3 == 0 ? BinaryFn.MAX : i % 3 == 1 ? BinaryFn.SUB : BinaryFn.MUL;
            all.add(new Region.Step(new Binary(fn), List.of(1 + i, i % 2 == 0 ? 0 : 3)));
        }
        return new Region(all, List.of(result == 0 ? steps - 1 : result));
    }

    /** x + (1 - mask) · a large negative number, the mask in integers: how exporters write attention masks. */
    private static Region masked(DType type) {
        return new Region(
                List.of(
                        new Region.Step(new Compare(CompareFn.GT), List.of(0, 0)),
                        new Region.Step(new Cast(type, true), List.of(0)),
                        new Region.Step(new Unary(UnaryFn.AFFINE, -3, 3), List.of(3)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(1, 4)),
                        new Region.Step(new Where(), List.of(2, 1, 5))),
                List.of(4));
    }

    private static Reduce reduce(ReduceFn fn, Integer... axes) {
        return new Reduce(fn, List.of(axes), false);
    }

    private static void division(KernelStage stage) {
        NdArray a = NdArray.of(TensorType.of(DType.I32, 3), 7, Integer.MIN_VALUE, -7);
        NdArray b = NdArray.of(TensorType.of(DType.I32, 3), 0, -1, 2);
        StepRun.Result result = new StepRun(stage).run(new Binary(BinaryFn.DIV), List.of(a, b));
        NdArray expected = NdArray.of(TensorType.of(DType.I32, 3), 0, Integer.MIN_VALUE, -3);
        Tolerance.EXACT.check("quotient", expected, result.output());
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 0), result.fault());
    }

    private static void outOfRange(KernelStage stage) {
        NdArray data = NdArray.of(TensorType.of(DType.F32, 3, 1), 1, 2, 3);
        NdArray at = NdArray.of(TensorType.of(DType.I64, 4), 2, 3, -3, -1);
        StepRun.Result result = new StepRun(stage).run(new Gather(0), List.of(data, at));
        NdArray expected = NdArray.of(TensorType.of(DType.F32, 4, 1), 3, 0, 1, 3);
        Tolerance.EXACT.check("gathered", expected, result.output());
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 3), result.fault());
    }

    /** Numbers that are made when a case runs. */
    record Input(TensorType type, int limit) {
        NdArray values() {
            Random random = new Random(type.hashCode());
            NdArray values = NdArray.zeros(type);
            for (int i = 0; i < values.size(); i++) {
                if (limit > 0) {
                    values.set(i, random.nextInt(2 * limit) - (long) limit);
                } else if (type.dtype().isFloat()) {
                    values.set(i, Tolerance.rounded(type.dtype(), random.nextDouble(-2, 2)));
                } else {
                    values.set(i, (long) random.nextInt(2));
                }
            }
            return values;
        }
    }

    static Input random(DType dtype, long... sizes) {
        return new Input(TensorType.of(dtype, sizes), 0);
    }

    /** Indices of an axis of that size, from either end. */
    private static Input indices(DType dtype, int size, long... sizes) {
        return new Input(TensorType.of(dtype, sizes), size);
    }
}
