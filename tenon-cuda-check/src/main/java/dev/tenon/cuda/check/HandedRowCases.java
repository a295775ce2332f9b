package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.kernel.RowRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * Rows with results known by hand, from faults that other projects' users met (docs/cases.md: SM-01, SM-02, SM-04,
 * LN-01, LN-02).
 */
final class HandedRowCases {
    private static final double INF = Double.POSITIVE_INFINITY;
    private static final int[] WIDTHS = {1, 2, 3, 5, 31, 32, 33, 63, 65, 127, 255, 257, 511, 513, 781, 1023, 1025, 4097
    };

    /** Of every form: rows of a warp, of a block's registers, of a block with shared memory, of several blocks. */
    private static final int[] LARGE_MEAN_WIDTHS = {16, 144, 1024, 4096, 16_384, 131_072};

    /** Longer sums are added and normalised apart. */
    private static final int LONGEST_SUM = 16_384;

    private HandedRowCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        cases.add(new KernelCase("softmax", "SM-01 special rows", HandedRowCases::specialRows));
        for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            for (int shift : new int[] {0, 1}) {
                cases.add(new KernelCase(
                        "softmax", "SM-02 " + dtype + " shifted by " + shift, stage -> odd(stage, dtype, shift)));
            }
            cases.add(new KernelCase("softmax", "SM-02 " + dtype + " along axis 0", stage -> oddStrided(stage, dtype)));
        }
        cases.add(new KernelCase("softmax", "SM-04 f16 [1,70000] of zeros", HandedRowCases::zeros));
        cases.add(new KernelCase("softmax", "SM-04 f32 [1,33554433]", true, HandedRowCases::longRow));
        cases.add(new KernelCase("layernorm", "LN-01", HandedRowCases::layerNorm));
        for (int n : LARGE_MEAN_WIDTHS) {
            cases.add(new KernelCase("layernorm", "LN-02 f32 [3," + n + "]", stage -> largeMean(stage, DType.F32, n)));
            cases.add(new KernelCase("layernorm", "LN-02 f64 [3," + n + "]", stage -> largeMean(stage, DType.F64, n)));
            if (n <= LONGEST_SUM) {
                cases.add(new KernelCase("residual_norm", "LN-02 [3," + n + "]", stage -> largeMeanOfSum(stage, n)));
            }
        }
        return cases;
    }

    private static void specialRows(KernelStage stage) {
        double[] x = {
            -INF, -INF, -INF, -INF, 0, -INF, 0, -INF, 0, INF, 0, 0, Double.NaN, 0, 0, 0, 1e4, 1e4, -1e4, 0, 0, 0, 0, 0
        };
        double nan = Double.NaN;
        double[] y = {
            nan, nan, nan, nan, .5, 0, .5, 0, nan, nan, nan, nan, nan, nan, nan, nan, .5, .5, 0, 0, .25, .25, .25, .25
        };
        equal(softmax(stage, RowRule.SOFTMAX, DType.F32, x, 4, 0), y, 0);
        equal(
                softmax(stage, RowRule.SOFTMAX, DType.F16, new double[] {65504, 65504, 0, -65504}, 4, 0),
                new double[] {.5, .5, 0, 0},
                0);
        equal(
                softmax(stage, RowRule.SOFTMAX, DType.F32, new double[] {7, -1e30f, -INF}, 1, 0),
                new double[] {1, 1, nan},
                0);
        double ln2 = Math.log(2);
        double[] second = Arrays.copyOfRange(x, 4, 8);
        equal(
                softmax(stage, RowRule.LOG_SOFTMAX, DType.F32, second, 4, 0),
                new double[] {-ln2, -INF, -ln2, -INF},
                1e-6);
    }

    private static void odd(KernelStage stage, DType dtype, int shift) {
        for (int n : WIDTHS) {
            double[] x = rounded(dtype, 3 * n, i -> Math.log(i % n + 1));
            checkOdd(dtype, n, x, softmax(stage, RowRule.SOFTMAX, dtype, x, n, shift));
        }
    }

    private static void oddStrided(KernelStage stage, DType dtype) {
        for (int n : WIDTHS) {
            double[] x = rounded(dtype, 3 * n, i -> Math.log(i / 3 + 1));
            double[] y = RowRun.strided(stage, false, dtype, x, 1, n, 3);
            checkOdd(
                    dtype,
                    n,
                    rounded(dtype, 3 * n, i -> Math.log(i % n + 1)),
                    rounded(dtype, 3 * n, i -> y[i % n * 3 + i / n]));
        }
    }

    private static void checkOdd(DType dtype, int n, double[] x, double[] y) {
        boolean half = dtype == DType.F16 || dtype == DType.BF16;
        for (int row = 0; row < 3; row++) {
            double[] expected = Arrays.copyOfRange(x, row * n, row * n + n);
            RowRun.reference(RowRule.SOFTMAX, expected, new double[0], new double[0], 0);
            double sum = 0;
            for (int j = 0; j < n; j++) {
                double actual = y[row * n + j];
                sum += actual;
                double step = Tolerance.epsilon(dtype) * Math.max(expected[j], 0x1p-14);
                double byHand = (j + 1) / (n * (n + 1.0) / 2);
                boolean right = half
                        ? Math.abs(actual - expected[j]) <= step
                        : Math.abs(actual - byHand) <= byHand * 64 * Tolerance.epsilon(dtype);
                if (!right) {
                    throw new AssertionError(
                            "n=" + n + ", row " + row + ", column " + j + " is " + actual + "; expected " + byHand);
                }
            }
            if (!half && Math.abs(sum - 1) > 1e-6) {
                throw new AssertionError("n=" + n + ": row " + row + " sums to " + sum);
            }
        }
    }

    private static void zeros(KernelStage stage) {
        double[] y = softmax(stage, RowRule.SOFTMAX, DType.F16, new double[70000], 70000, 0);
        equal(y, rounded(DType.F64, 70000, _ -> 0xF0 * 0x1p-24), 0);
    }

    private static void longRow(KernelStage stage) {
        double[] x = new double[33_554_433];
        x[x.length - 1] = 17.32868f;
        double[] y = softmax(stage, RowRule.SOFTMAX, DType.F32, x, x.length, 0);
        for (int i = 0; i < y.length; i++) {
            double expected = i == y.length - 1 ? 0.5 : 0x1p-26;
            if (Math.abs(y[i] - expected) > 1e-5 * expected) {
                throw new AssertionError("column " + i + " is " + y[i] + "; expected " + expected);
            }
        }
    }

    private static void layerNorm(KernelStage stage) {
        double[] large = {40000, 40001, 40002, 40003};
        double[] expected = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
        equal(layerNorm(stage, large, rounded(DType.F32, 4, _ -> 0)), expected, 1e-4);
        double[] constant = rounded(DType.F32, 256, _ -> 1234);
        equal(layerNorm(stage, constant, new double[256]), new double[256], 0);
        double[] quarter = rounded(DType.F32, 256, _ -> 0.25);
        equal(layerNorm(stage, constant, quarter), quarter, 0);
    }

    /**
     * Rows of 0, of i and of large numbers that differ by thousandths of a unit, where their mean is no number of the
     * type; i from 0 to 15, again and again.
     */
    private static void largeMean(KernelStage stage, DType dtype, int n) {
        double base = dtype == DType.F32 ? 10_000 : 0x1p43;
        double step = dtype == DType.F32 ? 0x1p-10 : 0x1p-9;
        double[] x = new double[3 * n];
        for (int i = 0; i < n; i++) {
            x[n + i] = i % 16;
            x[2 * n + i] = base + i % 16 * step;
        }
        for (int shift : new int[] {0, 1}) {
            RowKernels.Rows launch = stage.rows().rows(RowRule.LAYER_NORM, dtype, 3, n, shift == 0);
            double[] y = RowRun.rows(stage, launch, x, shift);
            equal(Arrays.copyOf(y, n), new double[n], 0);
            equal(Arrays.copyOfRange(y, n, 2 * n), sawtooth(n, 1), 1e-5);
            equal(Arrays.copyOfRange(y, 2 * n, 3 * n), sawtooth(n, step), 1e-5);
        }
    }

    private static void largeMeanOfSum(KernelStage stage, int n) {
        NdArray x = NdArray.zeros(TensorType.of(DType.F32, 3, n));
        NdArray residual = NdArray.zeros(TensorType.of(DType.F32, 3, n));
        NdArray ones = NdArray.zeros(TensorType.of(DType.F32, n));
        for (int i = 0; i < n; i++) {
            x.set(n + i, i % 16);
            x.set(2 * n + i, 10_000);
            residual.set(2 * n + i, i % 16 * 0x1p-10);
            ones.set(i, 1);
        }
        ResidualNorm op = new ResidualNorm(true, false, 1, RowRun.EPSILON);
        NdArray zeros = NdArray.zeros(ones.type());
        double[] y = new StepRun(stage)
                .run(op, List.of(x, residual, ones, zeros))
                .output()
                .toDoubles();
        equal(Arrays.copyOf(y, n), new double[n], 0);
        equal(Arrays.copyOfRange(y, n, 2 * n), sawtooth(n, 1), 1e-5);
        equal(Arrays.copyOfRange(y, 2 * n, 3 * n), sawtooth(n, 0x1p-10), 1e-5);
    }

    /** The norm of step · (0 to 15), again and again: their variance is 21.25 step^2. */
    private static double[] sawtooth(int n, double step) {
        return rounded(DType.F64, n, i -> (i % 16 - 7.5) * step / Math.sqrt(21.25 * step * step + RowRun.EPSILON));
    }

    private static double[] layerNorm(KernelStage stage, double[] x, double[] beta) {
        RowKernels.Rows launch = stage.rows().rows(RowRule.LAYER_NORM, DType.F32, 1, x.length, true);
        return RowRun.rows(stage, launch, x, rounded(DType.F32, x.length, _ -> 1), beta, 0, 0, _ -> {});
    }

    private static double[] softmax(KernelStage stage, RowRule rule, DType dtype, double[] x, int cols, int shift) {
        return RowRun.rows(stage, stage.rows().rows(rule, dtype, x.length / cols, cols, shift == 0), x, shift);
    }

    private static double[] rounded(DType dtype, int count, IntToDoubleFunction value) {
        double[] values = new double[count];
        Arrays.setAll(values, i -> Tolerance.rounded(dtype, value.applyAsDouble(i)));
        return values;
    }

    private static void equal(double[] actual, double[] expected, double within) {
        for (int i = 0; i < expected.length; i++) {
            boolean same = Double.compare(actual[i], expected[i]) == 0 || Math.abs(actual[i] - expected[i]) <= within;
            if (!same) {
                throw new AssertionError(
                        "element " + i + " is " + actual[i] + "; expected " + expected[i] + " within " + within);
            }
        }
    }
}
