package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.cuda.lower.step.RegionForm;
import java.util.ArrayList;
import java.util.List;

/**
 * Compiled row regions: every operation along rows, every form of a row at its edges, every way in which an operand is
 * read, before and after. Few programs on many sizes: each is compiled.
 */
final class RowRegionCases {
    private static final String KERNEL = "row_fused";
    private static final double EPSILON = 1e-5;
    private static final List<DType> TYPES = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private RowRegionCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int cols : new int[] {1, 7, 64, 100, 256, 257, 384, 512, 1000, 1023, 1024, 4099, 8192, 16_384}) {
            for (DType type : TYPES) {
                boolean edge = cols == 7 || cols == 384 || cols == 4099;
                if (cols <= 8192 && (edge || type == DType.F32) || cols == 16_384 && type == DType.F16) {
                    add(cases, new LayerNorm(2, EPSILON, true, true), type, cols);
                }
            }
        }
        for (DType type : TYPES) {
            for (int cols : new int[] {33, 192, 2048}) {
                add(cases, new Softmax(2), type, cols);
                add(cases, new RmsNorm(2, EPSILON, true), type, cols);
            }
            add(cases, new LogSoftmax(2), type, 120);
            add(cases, new LayerNorm(2, EPSILON, false, true), type, 96);
            add(cases, new Reduce(ReduceFn.SUM, List.of(2), true), type, 260);
        }
        for (ReduceFn fn : ReduceFn.values()) {
            if (fn.accepts().test(DType.F32) && fn != ReduceFn.LOG_SUM) {
                add(cases, new Reduce(fn, List.of(2), true), DType.F32, fn == ReduceFn.PROD ? 24 : 264);
                add(cases, new Reduce(fn, List.of(2), true), DType.F32, fn == ReduceFn.PROD ? 33 : 2051);
            }
        }
        add(cases, new LayerNorm(1, EPSILON, true, true), DType.F32, 130);
        add(cases, new Reduce(ReduceFn.MEAN, List.of(1, 2), true), DType.F32, 130);
        cases.add(new KernelCase(KERNEL, "of an integer product", RowRegionCases::dequantised));
        cases.add(new KernelCase(KERNEL, "booleans before, integers after", RowRegionCases::masked));
        cases.add(new KernelCase(KERNEL, "NaN and infinity stay in their rows", RowRegionCases::special));
        cases.add(new KernelCase(KERNEL, "rows see what comes before unrounded", RowRegionCases::unrounded));
        cases.add(new KernelCase(KERNEL, "no rows, no columns", RowRegionCases::empty));
        cases.add(new KernelCase(KERNEL, "i32 divided by 0", RowRegionCases::division));
        cases.add(new KernelCase(KERNEL, "i32 divided by 0 after", RowRegionCases::divisionAfter));
        cases.add(new KernelCase(KERNEL, "recorded", RowRegionCases::recorded));
        return cases;
    }

    /** Before and after, before alone, after alone; and part by part. */
    private static void add(List<KernelCase> cases, Primitive row, DType type, int cols) {
        cases.add(new KernelCase(KERNEL, row + " of " + cols + " " + type, stage -> {
            for (int parts = 1; parts < 4; parts++) {
                boolean before = (parts & 1) != 0;
                boolean after = (parts & 2) != 0;
                check(stage, op(row, before, after), operands(row, type, cols, before, after), cols);
            }
        }));
    }

    private static RowRegion op(Primitive row, boolean before, boolean after) {
        return new RowRegion(before ? 4 : 1, before ? before() : null, row, after ? after(row) : null);
    }

    private static void check(KernelStage stage, RowRegion op, List<NdArray> inputs, long length) {
        StepRun.Result result = new StepRun(stage, RegionForm.COMPILED).check(op, inputs, 4 * length + 64);
        if (!result.step().tier().startsWith(KERNEL)) {
            throw new AssertionError("not compiled: " + result.step().passedOver());
        }
        if (inputs.getFirst().dtype().accumulator() == inputs.getFirst().dtype()) { // between parts, short types round
            new StepRun(stage, RegionForm.INTERPRETED).check(op, inputs, 4 * length + 64);
        }
    }

    private static List<NdArray> operands(Primitive row, DType type, int cols, boolean before, boolean after) {
        List<NdArray> inputs = new ArrayList<>(List.of(numbers(type, 2, 3, cols)));
        if (before) {
            inputs.add(numbers(type, 2, 3, 1));
            inputs.add(numbers(type, cols));
            inputs.add(numbers(type, 2, 1, cols));
        }
        int axis = row instanceof LayerNorm norm ? norm.axis() : 2;
        for (int i = 1; i < row.arity().min(); i++) {
            inputs.add(axis == 2 ? numbers(type, cols) : numbers(type, 3, cols));
        }
        if (after) {
            inputs.add(row instanceof Reduce reduce ? sums(reduce, type) : numbers(type, 2, 3, cols));
            inputs.add(row instanceof Reduce ? numbers(type) : numbers(type, cols));
        }
        return inputs;
    }

    /** One number for each result. */
    private static NdArray sums(Reduce reduce, DType type) {
        return reduce.axes().contains(1) ? numbers(type, 2, 1, 1) : numbers(type, 2, 3, 1);
    }

    private static NdArray numbers(DType type, long... sizes) {
        return StepCases.random(type, sizes).values();
    }

    /** A whole operand by one a row, one a column, one broadcast in between. */
    private static Region before() {
        return new Region(
                List.of(
                        step(new Binary(BinaryFn.MUL), 0, 1),
                        step(new Binary(BinaryFn.ADD), 4, 2),
                        step(new Unary(UnaryFn.AFFINE, 0.25, 1), 5),
                        step(new Binary(BinaryFn.ADD), 6, 3)),
                List.of(3));
    }

    private static Region after(Primitive row) {
        Unary function = row instanceof Reduce ? new Unary(UnaryFn.AFFINE, 0.5, 1) : Unary.of(UnaryFn.TANH);
        return new Region(
                List.of(step(function, 0), step(new Binary(BinaryFn.MUL), 3, 1), step(new Binary(BinaryFn.ADD), 4, 2)),
                List.of(2));
    }

    /** The norm of a residual and a product of integers with its scale and bias, as quantised encoders have it. */
    private static void dequantised(KernelStage stage) {
        Region before = new Region(
                List.of(
                        step(new Cast(DType.F32, true), 3),
                        step(new Binary(BinaryFn.MUL), 4, 0),
                        step(new Binary(BinaryFn.ADD), 5, 1),
                        step(new Binary(BinaryFn.ADD), 6, 2)),
                List.of(3));
        RowRegion op = new RowRegion(4, before, new LayerNorm(2, EPSILON, true, true), null);
        for (int cols : new int[] {384, 387}) {
            NdArray product = NdArray.zeros(DType.I32, 2, 3, cols);
            for (int i = 0; i < product.size(); i++) {
                product.set(i, (long) (i * 7919 % 1001 - 500));
            }
            NdArray scale = CaseArrays.filled(DType.F32, () -> 0.004, cols);
            check(
                    stage,
                    op,
                    List.of(
                            scale,
                            numbers(DType.F32, cols),
                            numbers(DType.F32, 2, 3, cols),
                            product,
                            numbers(DType.F32, cols),
                            numbers(DType.F32, cols)),
                    cols);
        }
    }

    /** Attention's probabilities by a mask of bytes, quantised. */
    private static void masked(KernelStage stage) {
        Region before = new Region(List.of(step(new Where(), 0, 1, 2)), List.of(0));
        Region after = new Region(
                List.of(step(new Unary(UnaryFn.AFFINE, 255, 0), 0), step(new Cast(DType.U8, true), 1)), List.of(1));
        RowRegion op = new RowRegion(3, before, new Softmax(2), after);
        NdArray mask = NdArray.zeros(DType.BOOL, 2, 1, 48);
        for (int i = 0; i < mask.size(); i++) {
            mask.set(i, i % 48 < 24 ? 1L : 0L);
        }
        NdArray equal = CaseArrays.filled(DType.F32, () -> 1.5, 2, 5, 48);
        NdArray lowest = CaseArrays.filled(DType.F32, () -> -1e30);
        check(stage, op, List.of(mask, equal, lowest), 48);
    }

    private static void special(KernelStage stage) {
        for (int cols : new int[] {67, 512, 4100}) {
            for (Primitive row : List.of(
                    new Softmax(2),
                    new LayerNorm(2, EPSILON, true, true),
                    new Reduce(ReduceFn.MAX, List.of(2), true))) {
                List<NdArray> inputs = operands(row, DType.F32, cols, true, true);
                inputs.getFirst().set(5, Double.NaN);
                inputs.getFirst().set(2 * cols - 1, Double.POSITIVE_INFINITY);
                inputs.getFirst().set(3 * cols, Double.NEGATIVE_INFINITY);
                check(stage, op(row, true, true), inputs, cols);
            }
        }
    }

    /** 256 + small numbers, which bf16 would round away: their norm is that of the small numbers. */
    private static void unrounded(KernelStage stage) {
        Region before = new Region(List.of(step(new Binary(BinaryFn.ADD), 0, 1)), List.of(0));
        RowRegion op = new RowRegion(2, before, new LayerNorm(1, EPSILON, false, false), null);
        for (int cols : new int[] {64, 4096}) {
            NdArray large = CaseArrays.filled(DType.BF16, () -> 256, 3, cols);
            NdArray small = NdArray.zeros(DType.BF16, 3, cols);
            for (int i = 0; i < small.size(); i++) {
                small.set(i, i % 2 == 0 ? 0.25 : -0.25);
            }
            NdArray norm = new StepRun(stage, RegionForm.COMPILED)
                    .run(op, List.of(large, small))
                    .output();
            if (Math.abs(norm.get(0) - 1) > 0.01) {
                throw new AssertionError("the first is " + norm.get(0) + "; expected 1: the sum was rounded");
            }
        }
    }

    private static void empty(KernelStage stage) {
        Primitive norm = new LayerNorm(2, EPSILON, false, false);
        Region scaled = new Region(List.of(step(new Binary(BinaryFn.MUL), 0, 1)), List.of(0));
        for (long[] sizes : new long[][] {{0, 3, 8}, {2, 3, 0}}) {
            List<NdArray> inputs = List.of(NdArray.zeros(DType.F32, sizes), NdArray.zeros(DType.F32, sizes));
            new StepRun(stage, RegionForm.COMPILED).check(new RowRegion(2, scaled, norm, null), inputs, 1);
            Primitive sum = new Reduce(ReduceFn.SUM, List.of(2), false);
            new StepRun(stage, RegionForm.COMPILED).check(new RowRegion(2, scaled, sum, null), inputs, 1);
        }
    }

    private static void division(KernelStage stage) {
        Region before = new Region(
                List.of(step(new Binary(BinaryFn.DIV), 0, 1), step(new Cast(DType.F32, true), 2)), List.of(1));
        RowRegion op = new RowRegion(2, before, new Reduce(ReduceFn.SUM, List.of(1), false), null);
        NdArray a = NdArray.of(TensorType.of(DType.I32, 1, 4), 7, 8, 9, 10);
        NdArray b = NdArray.of(TensorType.of(DType.I32, 1, 4), 1, 2, 0, 5);
        StepRun.Result result = new StepRun(stage, RegionForm.COMPILED).run(op, List.of(a, b));
        Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 0), result.fault());
    }

    /** The report is of the division, also where it is a step of its own behind one that reports nothing. */
    private static void divisionAfter(KernelStage stage) {
        Region after = new Region(
                List.of(step(new Cast(DType.I32, true), 0), step(new Binary(BinaryFn.DIV), 2, 1)), List.of(1));
        RowRegion op = new RowRegion(1, null, new LayerNorm(1, EPSILON, false, false), after);
        List<NdArray> inputs =
                List.of(numbers(DType.F32, 1, 4), NdArray.of(TensorType.of(DType.I32, 1, 4), 1, 2, 0, 5));
        for (RegionForm form : List.of(RegionForm.COMPILED, RegionForm.INTERPRETED)) {
            StepRun.Result result = new StepRun(stage, form).run(op, inputs);
            Tolerance.EXACT.check("fault", NdArray.of(TensorType.of(DType.I64, 2), 1, 0), result.fault());
            String words = result.step().fault(0);
            if (!words.startsWith("division of an integer by zero")) {
                throw new AssertionError(form + ": the report of 0 says " + words);
            }
        }
    }

    private static void recorded(KernelStage stage) {
        Primitive row = new Softmax(2);
        List<NdArray> inputs = operands(row, DType.F32, 96, true, true);
        RowRegion op = op(row, true, true);
        Tolerance.EXACT.check(
                "recorded",
                new StepRun(stage, RegionForm.COMPILED).run(op, inputs).output(),
                new StepRun(stage, RegionForm.COMPILED).replay(op, inputs).output());
    }

    private static Region.Step step(Elementwise op, Integer... arguments) {
        return new Region.Step(op, List.of(arguments));
    }
}
