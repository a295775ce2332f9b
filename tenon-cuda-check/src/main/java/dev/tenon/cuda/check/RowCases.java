package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.kernel.RowPlan;
import dev.tenon.cuda.kernel.RowRule;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.DeviceProperties;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Softmax, log-softmax, LayerNorm and RmsNorm: every form that a row can take, on every element type. */
final class RowCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final int[] COLS = {
        1, 2, 3, 5, 31, 32, 33, 63, 65, 127, 128, 255, 257, 511, 513, 781, 1023, 1024, 1025, 2047, 2049, 4095, 4097,
        4099
    };

    private RowCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (RowRule rule : RowRule.values()) {
            for (DType dtype : FLOATS) {
                for (int cols : COLS) {
                    cases.add(plain(rule, dtype, 3, cols, 0, 0));
                }
                cases.add(plain(rule, dtype, 67, 256, 0, 0));
                cases.add(plain(rule, dtype, 5, 781, 1, 0));
                cases.add(plain(rule, dtype, 5, 1024, 1, 1));
                cases.add(plain(rule, dtype, 5, 1023, 1, 0));
                cases.add(plain(rule, dtype, 3, 20011, 0, 1));
                cases.add(plain(rule, dtype, 3, 20011, 3, 3));
                cases.add(plain(rule, dtype, 3, 4096, 0, 1));
                cases.add(plain(rule, dtype, 2, 8192, 0, 0));
                cases.add(plain(rule, dtype, 2, 20011, 0, 0));
                cases.add(plain(rule, dtype, 2, 32768, 0, 0));
                cases.add(plain(rule, dtype, 3, 65537, 0, 0));
                cases.add(plain(rule, dtype, 2, 130000, 0, 0));
                int few = dtype == DType.F64 ? 253 : 1021;
                cases.add(forced(
                        rule,
                        dtype,
                        "a row a warp",
                        5,
                        few,
                        d -> RowKernels.plan(rule, dtype, 5, few, true, littleL2(d))));
                cases.add(inBlocks(rule, dtype, "in blocks", 2, 8192, device -> device));
                cases.add(inBlocks(rule, dtype, "read twice", 2, 24576, RowCases::littleShared));
                cases.add(inBlocks(rule, dtype, "read twice", 2, 20011, RowCases::littleShared));
                cases.add(together(rule, dtype, 3, 24576, RowCases::littleShared));
                cases.add(together(rule, dtype, 5, 20011, device -> device));
            }
        }
        for (DType dtype : FLOATS) {
            for (boolean log : new boolean[] {false, true}) {
                for (int[] size : new int[][] {{2, 3, 5}, {1, 33, 1}, {3, 1, 32}, {1, 300, 65}, {2, 1023, 33}}) {
                    cases.add(strided(log, dtype, size[0], size[1], size[2]));
                }
            }
            for (int cols : new int[] {1, 5, 31, 33, 781, 1025}) {
                cases.add(threePass(dtype, 3, cols));
            }
        }
        return cases;
    }

    /** What the planner picks on this device, with special rows among random ones. */
    private static KernelCase plain(RowRule rule, DType dtype, int rows, int cols, int shiftX, int shiftY) {
        String shifts = shiftX + shiftY == 0 ? "" : " shifted by " + shiftX + " and " + shiftY;
        return new KernelCase(name(rule), dtype + " [" + rows + "," + cols + "]" + shifts, stage -> {
            boolean congruent = shiftX == shiftY;
            check(stage, stage.rows().rows(rule, dtype, rows, cols, congruent), dtype, shiftX, shiftY);
        });
    }

    /** A plan that this device would not make for the size. */
    private static KernelCase forced(
            RowRule rule, DType dtype, String form, int rows, int cols, Function<DeviceProperties, RowPlan> planner) {
        return new KernelCase(name(rule), dtype + " [" + rows + "," + cols + "] " + form, stage -> {
            RowPlan plan = planner.apply(stage.context().device());
            check(stage, stage.rows().rows(rule, dtype, rows, cols, plan), dtype, 0, 0);
        });
    }

    private static KernelCase inBlocks(
            RowRule rule, DType dtype, String form, int rows, int cols, UnaryOperator<DeviceProperties> change) {
        return forced(rule, dtype, form, rows, cols, blocks(rule, dtype, rows, cols, change));
    }

    private static KernelCase together(
            RowRule rule, DType dtype, int rows, int cols, UnaryOperator<DeviceProperties> change) {
        Function<DeviceProperties, RowPlan> plan = blocks(rule, dtype, rows, cols, change);
        return forced(
                rule,
                dtype,
                "several blocks a row",
                rows,
                cols,
                device -> plan.apply(device).together(3, Math.min(rows, 2), rule, dtype));
    }

    private static Function<DeviceProperties, RowPlan> blocks(
            RowRule rule, DType dtype, int rows, int cols, UnaryOperator<DeviceProperties> change) {
        return device -> RowKernels.blockPlan(rule, dtype, rows, cols, true, change.apply(device));
    }

    private static void check(KernelStage stage, RowKernels.Rows launch, DType dtype, int shiftX, int shiftY) {
        RowRule rule = launch.rule();
        int rows = SizeMath.toInt("rows", launch.rows());
        int cols = SizeMath.toInt("rows", launch.cols());
        Random random = new Random(31L * rows + cols);
        double[] x = values(random, dtype, rows, cols);
        boolean affine = rule == RowRule.LAYER_NORM || rule == RowRule.RMS_NORM;
        double[] gamma = affine ? row(random, dtype, cols) : new double[0];
        double[] beta = rule == RowRule.LAYER_NORM ? row(random, dtype, cols) : new double[0];
        RowRun.rows(stage, launch, x, gamma, beta, shiftX, shiftY, y -> compare(rule, dtype, x, gamma, beta, y, cols));
    }

    private static KernelCase strided(boolean log, DType dtype, int outer, int n, int inner) {
        RowRule rule = log ? RowRule.LOG_SOFTMAX : RowRule.SOFTMAX;
        return new KernelCase(name(rule), dtype + " [" + outer + "," + n + "," + inner + "] along 1", stage -> {
            double[] rows = values(new Random(n), dtype, outer * inner, n);
            double[] x = new double[rows.length];
            double[] none = {};
            for (int i = 0; i < x.length; i++) {
                x[strided(i, n, inner)] = rows[i];
            }
            double[] y = RowRun.strided(stage, log, dtype, x, outer, n, inner);
            double[] back = new double[y.length];
            for (int i = 0; i < y.length; i++) {
                back[i] = y[strided(i, n, inner)];
            }
            compare(rule, dtype, rows, none, none, back, n);
        });
    }

    /** Where element i of rows laid out one after the other lies in [outer, n, inner]. */
    private static int strided(int i, int n, int inner) {
        int row = i / n;
        return (row / inner * n + i % n) * inner + row % inner;
    }

    private static KernelCase threePass(DType dtype, int rows, int cols) {
        return new KernelCase("softmax_three_pass", dtype + " [" + rows + "," + cols + "]", stage -> {
            double[] x = values(new Random(cols), dtype, rows, cols);
            DeviceBuffer onX = stage.upload(dtype, x, 0);
            DeviceBuffer onY = stage.poisoned((long) x.length * dtype.bytes());
            stage.rows()
                    .threePass(dtype, rows, cols)
                    .enqueue(stage.stream(), stage.arguments(), onX.address(), onY.address());
            compare(
                    RowRule.SOFTMAX,
                    dtype,
                    x,
                    new double[0],
                    new double[0],
                    stage.download(dtype, onY, x.length, 0),
                    cols);
        });
    }

    private static void compare(
            RowRule rule, DType dtype, double[] x, double[] gamma, double[] beta, double[] y, int cols) {
        Tolerance tolerance = Tolerance.of(dtype, cols);
        for (int base = 0; base < x.length; base += cols) {
            double[] expected = Arrays.copyOfRange(x, base, base + cols);
            RowRun.reference(rule, expected, gamma, beta, RowRun.EPSILON);
            for (int i = 0; i < cols; i++) {
                double rounded = Tolerance.rounded(dtype, expected[i]);
                if (!tolerance.accepts(rounded, y[base + i])) {
                    throw new AssertionError("row " + base / cols + ", column " + i + " is " + y[base + i]
                            + "; expected " + rounded + " within " + tolerance);
                }
            }
        }
    }

    /** Random rows, the second one with a large offset, some of the later ones with infinities and NaN. */
    private static double[] values(Random random, DType dtype, int rows, int cols) {
        double[] x = new double[rows * cols];
        for (int i = 0; i < x.length; i++) {
            x[i] = Tolerance.rounded(dtype, random.nextGaussian() * 3 + (i / cols == 1 ? 40 : 0));
        }
        int last = x.length - 1;
        if (rows >= 5) {
            Arrays.fill(x, 2 * cols, 3 * cols, Double.NEGATIVE_INFINITY);
            x[3 * cols + cols / 2] = Double.NaN;
            x[last] = Double.NEGATIVE_INFINITY;
        }
        if (rows >= 60) {
            x[10 * cols] = Double.POSITIVE_INFINITY;
            Arrays.fill(x, 11 * cols, 12 * cols, 0.25);
        }
        return x;
    }

    private static double[] row(Random random, DType dtype, int cols) {
        double[] row = new double[cols];
        for (int i = 0; i < cols; i++) {
            row[i] = Tolerance.rounded(dtype, 1 + random.nextGaussian() / 4);
        }
        return row;
    }

    private static DeviceProperties littleShared(DeviceProperties device) {
        return little(device, 20 * 1024, 40 * 1024, device.l2Bytes());
    }

    private static DeviceProperties littleL2(DeviceProperties device) {
        return little(device, device.sharedBytesPerBlockOptIn(), device.sharedBytesPerMultiprocessor(), 1024);
    }

    private static DeviceProperties little(DeviceProperties d, int sharedOfBlock, int shared, int l2) {
        return new DeviceProperties(
                d.ordinal(),
                d.name(),
                d.architecture(),
                d.multiprocessors(),
                d.memoryBytes(),
                d.sharedBytesPerBlock(),
                sharedOfBlock,
                shared,
                d.registersPerMultiprocessor(),
                d.threadsPerMultiprocessor(),
                l2,
                d.cooperativeLaunch());
    }

    private static String name(RowRule rule) {
        return switch (rule) {
            case SOFTMAX -> "softmax";
            case LOG_SOFTMAX -> "log_softmax";
            case LAYER_NORM -> "layernorm";
            case RMS_NORM -> "rmsnorm";
        };
    }
}
