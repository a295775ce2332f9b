package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.kernel.MatMulKernels;
import dev.tenon.cuda.lower.step.ProductForm;
import dev.tenon.cuda.port.DeviceBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is done to a product after a library made it: every activation on special and random numbers, and the addends;
 * gated linear units, which are made of a product, too; and what few rows go through before they are multiplied.
 */
final class EpilogueCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final double[] SPECIAL = {
        0,
        -0.0,
        1,
        -1,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        1e-8,
        -1e-8,
        1e4,
        -1e4,
        88,
        -88,
        100,
        -100,
        3e38,
        -3e38,
        6,
        -6,
        0.5,
        -0.5,
        2.5,
        -2.5
    };

    private static final double EPSILON = 1e-5;

    private static final String GATED = "gated_unit";

    private static final String GEMV = "gemv";

    /** m, n, k of few rows: every number of rows of a kernel, lines of whole chunks and not, several steps. */
    private static final long[][] FEW = {
        {1, 40, 4104}, {1, 7, 1023}, {1, 264, 520}, {2, 72, 776}, {2, 33, 129}, {5, 24, 264}, {13, 31, 72}, {16, 40, 65}
    };

    private EpilogueCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (UnaryFn fn : UnaryFn.values()) {
                Unary activation = activation(fn);
                if (activation != null) {
                    cases.add(new KernelCase(
                            "matmul_epilogue", dtype + " " + fn, stage -> activation(stage, dtype, activation)));
                }
            }
            for (int n : new int[] {1, 3, 8, 31, 32, 1023, 1024}) {
                for (int parts = 0; parts < 8; parts++) {
                    int which = parts;
                    cases.add(new KernelCase(
                            "matmul_epilogue",
                            dtype + " [37," + n + "] parts " + parts,
                            stage -> addends(stage, dtype, 37, n, which)));
                }
            }
        }
        gatedUnits(cases);
        prologues(cases);
        return cases;
    }

    /** Every type and prologue, both ways in which a weight lies, as a constant and not. */
    private static void prologues(List<KernelCase> cases) {
        List<Op> few = List.of(
                new RmsNorm(1, EPSILON, true),
                new LayerNorm(1, EPSILON, true, true),
                new RmsNorm(1, EPSILON, false),
                new LayerNorm(1, EPSILON, true, false));
        List<Op> functions = List.of(
                new GatedUnit(Unary.silu(), false),
                new GatedUnit(Unary.of(UnaryFn.SIGMOID), true),
                Unary.of(UnaryFn.GELU),
                new Unary(UnaryFn.LEAKY_RELU, 0.25, 0));
        for (DType type : FLOATS) {
            cases.add(new KernelCase(GEMV, type + " one scale for all columns", stage -> oneScale(stage, type)));
            for (long[] size : FEW) {
                boolean one = size[0] == 1 || size[0] == 13;
                for (Op prologue :
                        one ? Stream.concat(few.stream(), functions.stream()).toList() : few.subList(0, 2)) {
                    for (boolean alongK : new boolean[] {true, false}) {
                        Epilogue epilogue = size[1] % 2 == 0 ? Epilogue.NONE.withResidual() : Epilogue.NONE.withBias();
                        PrologueMatMul op = new PrologueMatMul(prologue, new MatMul(false, alongK, epilogue));
                        for (boolean special : new boolean[] {false, true}) {
                            String what =
                                    type + " " + Arrays.toString(size) + (special ? " NaN and infinity, " : " ") + op;
                            cases.add(new KernelCase(GEMV, what, stage -> prologue(stage, op, type, size, special)));
                        }
                    }
                }
            }
        }
    }

    /** A norm whose scale and bias are a number for all columns, which the kernel does not read. */
    private static void oneScale(KernelStage stage, DType type) {
        Random random = new Random(7);
        PrologueMatMul op =
                new PrologueMatMul(new LayerNorm(1, EPSILON, true, true), new MatMul(false, true, Epilogue.NONE));
        List<NdArray> norm = List.of(
                CaseArrays.normal(random, type, 1, 72),
                CaseArrays.normal(random, type, 1),
                CaseArrays.normal(random, type, 1));
        NdArray weight = CaseArrays.normal(random, type, 24, 72);
        List<NdArray> inputs = new ArrayList<>(norm);
        inputs.add(weight);
        StepRun.Result result = new StepRun(stage, Blas.none("not asked"), Precision.FAST)
                .with(ProductForm.FEW_ROWS)
                .run(op, inputs, List.of());
        List<NdArray> operands = List.of(made(op.prologue(), norm), weight);
        Tolerance.of(type, 72)
                .check(
                        result.step().tier(),
                        Interpreter.run(op.product(), operands).getFirst(),
                        result.output());
    }

    private static void prologue(KernelStage stage, PrologueMatMul op, DType type, long[] size, boolean special) {
        long m = size[0];
        long n = size[1];
        long k = size[2];
        Random random = new Random(k);
        List<NdArray> before = new ArrayList<>();
        long columns = op.prologue() instanceof GatedUnit ? 2 * k : k;
        before.add(CaseArrays.filled(type, () -> random.nextGaussian() + 1, m, columns));
        for (int i = 1; i < op.prologues(); i++) {
            before.add(CaseArrays.filled(type, () -> random.nextDouble(0.5, 1.5), k));
        }
        if (special) { // of the last row, and of the first one if it is another
            before.getFirst().set((int) (m * columns - 2), Double.NaN);
            before.getFirst().set(3, m > 1 ? Double.POSITIVE_INFINITY : 1);
        }
        long[] sizes = op.product().transposeB() ? new long[] {n, k} : new long[] {k, n};
        List<NdArray> after = new ArrayList<>();
        after.add(CaseArrays.filled(type, () -> random.nextDouble(-1, 1) / Math.sqrt((double) k), sizes));
        after.add(
                op.product().epilogue().bias()
                        ? CaseArrays.normal(random, type, n)
                        : CaseArrays.normal(random, type, m, n));
        List<NdArray> inputs = new ArrayList<>(before);
        inputs.addAll(after);
        StepRun.Result result = new StepRun(stage, Blas.none("not asked"), Precision.FAST)
                .with(ProductForm.FEW_ROWS)
                .run(op, inputs, n % 2 == 0 ? List.of(op.prologues()) : List.of());
        String word = op.product().transposeB() ? "gemv_along_k" : "gemv_across_k";
        String made = op.prologue() instanceof Unary function
                ? function.fn().word()
                : op.prologue().mnemonic();
        if (!result.step().tier().contains(made) || !result.step().tier().contains(word)) {
            throw new AssertionError("it was made by " + result.step().tier() + "; expected " + made + " in " + word);
        }
        List<NdArray> operands = new ArrayList<>();
        operands.add(made(op.prologue(), before));
        operands.addAll(after);
        // a number that is made may be rounded the other way where it lies between two
        Tolerance sum = Tolerance.of(type, k);
        double flips = 16 * Tolerance.epsilon(type) / Math.sqrt((double) k);
        new Tolerance(sum.relative(), sum.absolute() + flips)
                .check(
                        result.step().tier(),
                        Interpreter.run(op.product(), operands).getFirst(),
                        result.output());
    }

    /** What a prologue makes, each result of its parts rounded. */
    private static NdArray made(Op prologue, List<NdArray> before) {
        if (!(prologue instanceof GatedUnit gate)) {
            return rounded(Interpreter.run(prologue, before).getFirst());
        }
        NdArray x = before.getFirst();
        int rows = (int) x.shape().size(0);
        int half = (int) x.shape().size(1) / 2;
        NdArray y = NdArray.zeros(x.dtype(), rows, half);
        for (int i = 0; i < y.size(); i++) {
            int first = i / half * 2 * half + i % half;
            double value = gate.activation().apply(x.get(gate.second() ? first + half : first));
            y.set(i, Tolerance.rounded(x.dtype(), value) * x.get(gate.second() ? first : first + half));
        }
        return rounded(y);
    }

    private static NdArray rounded(NdArray array) {
        for (int i = 0; i < array.size(); i++) {
            array.set(i, Tolerance.rounded(array.dtype(), array.get(i)));
        }
        return array;
    }

    /** Every type, widths on and off 16-byte boundaries, several turns a thread, special values. */
    private static void gatedUnits(List<KernelCase> cases) {
        for (DType type : FLOATS) {
            for (Unary fn : List.of(Unary.of(UnaryFn.GELU), Unary.silu(), Unary.of(UnaryFn.SIGMOID))) {
                for (int[] sizes : new int[][] {{1, 1}, {3, 5}, {257, 8}, {19, 1000}, {1100, 129}, {700, 512}}) {
                    String name = type + " " + fn.fn().word() + " " + sizes[0] + " x " + sizes[1];
                    cases.add(new KernelCase(GATED, name, stage -> units(stage, type, fn, sizes)));
                }
                cases.add(new KernelCase(
                        GATED, type + " " + fn.fn().word() + " special", stage -> special(stage, type, fn)));
            }
        }
    }

    /** The function with parameters that f32 holds exactly; null where it does not take floats. */
    private static @Nullable Unary activation(UnaryFn fn) {
        return switch (fn) {
            case NOT, BIT_NOT, IS_NAN, IS_INF -> null;
            case LEAKY_RELU, THRESHOLDED_RELU -> new Unary(fn, 0.25, 0);
            case HARD_SIGMOID -> new Unary(fn, 0.25, 0.5);
            case ELU -> new Unary(fn, 1.5, 0);
            case SELU -> new Unary(fn, 1.75, 1.0625);
            case SILU, CELU -> new Unary(fn, 1.5, 0);
            case SHRINK -> new Unary(fn, 0.5, 0.25);
            case CLIP -> new Unary(fn, -1, 6);
            case AFFINE -> new Unary(fn, 2, -0.75);
            case SCALED_TANH -> new Unary(fn, 1.75, 0.625);
            default -> Unary.of(fn);
        };
    }

    private static void activation(KernelStage stage, DType dtype, Unary fn) {
        Random random = new Random(fn.fn().name().hashCode());
        double[] x = new double[SPECIAL.length + 233];
        for (int i = 0; i < x.length; i++) {
            x[i] = Tolerance.rounded(dtype, i < SPECIAL.length ? SPECIAL[i] : random.nextGaussian() * 2);
        }
        MatMulKernels.Finish finish = new MatMulKernels(stage.modules()).finish(dtype, 1, x.length, false, fn);
        DeviceBuffer y = stage.upload(dtype, x, 0);
        finish.enqueue(stage.stream(), stage.arguments(), y.address(), 0, 0, y.address());
        double[] actual = stage.download(dtype, y, x.length, 0);
        for (int i = 0; i < x.length; i++) {
            compare(dtype, fn.fn() + " of " + x[i], fn.apply(x[i]), actual[i]);
        }
    }

    /** Bit 0 of parts: a bias; bit 1: a residual, over which the result goes; bit 2: an activation. */
    private static void addends(KernelStage stage, DType dtype, int rows, int n, int parts) {
        Random random = new Random(31L * n + parts);
        double[] x = CaseArrays.normal(random, dtype, (long) rows * n).toDoubles();
        double[] bias = CaseArrays.normal(random, dtype, n).toDoubles();
        double[] residual = CaseArrays.normal(random, dtype, (long) rows * n).toDoubles();
        boolean biased = (parts & 1) != 0;
        boolean added = (parts & 2) != 0;
        Unary fn = (parts & 4) != 0 ? Unary.silu() : null;
        MatMulKernels.Finish finish = new MatMulKernels(stage.modules()).finish(dtype, rows, n, biased, fn);
        DeviceBuffer onX = stage.upload(dtype, x, 0);
        DeviceBuffer onY = added ? stage.upload(dtype, residual, 0) : stage.poisoned((long) rows * n * dtype.bytes());
        finish.enqueue(
                stage.stream(),
                stage.arguments(),
                onX.address(),
                biased ? stage.upload(dtype, bias, 0).address() : 0,
                added ? onY.address() : 0,
                onY.address());
        double[] y = stage.download(dtype, onY, rows * n, 0);
        for (int i = 0; i < y.length; i++) {
            double v = x[i] + (biased ? bias[i % n] : 0);
            v = fn == null ? v : fn.apply(v);
            compare(dtype, "row " + i / n + ", column " + i % n, v + (added ? residual[i] : 0), y[i]);
        }
    }

    private static void compare(DType dtype, String what, double expected, double actual) {
        double rounded = Tolerance.rounded(dtype, expected);
        if (!Tolerance.of(dtype, 1).accepts(rounded, actual)) {
            throw new AssertionError(what + " is " + actual + "; expected " + rounded);
        }
    }

    private static void units(KernelStage stage, DType type, Unary fn, int[] sizes) {
        NdArray x = CaseArrays.normal(new Random(sizes[0]), type, sizes[0], 2L * sizes[1]);
        StepRun run = new StepRun(stage);
        run.check(new GatedUnit(fn, false), List.of(x), 4);
        run.check(new GatedUnit(fn, true), List.of(x), 4);
    }

    /** Pairs of values at which a product has no number. */
    private static void special(KernelStage stage, DType type, Unary fn) {
        double inf = Double.POSITIVE_INFINITY;
        double[] values = {0, -0.0, 1, -1, inf, -inf, Double.NaN, 60};
        NdArray x = NdArray.zeros(TensorType.of(type, 1, 2L * values.length * values.length));
        for (int i = 0; i < values.length * values.length; i++) {
            x.set(i, values[i / values.length]);
            x.set(values.length * values.length + i, values[i % values.length]);
        }
        StepRun run = new StepRun(stage);
        run.check(new GatedUnit(fn, false), List.of(x), 4);
        run.check(new GatedUnit(fn, true), List.of(x), 4);
    }
}
