package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.Affine;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.kernel.RowRule;
import dev.tenon.cuda.port.DeviceBuffer;
import java.util.function.Consumer;

/**
 * Runs row kernels on numbers: upload, poisoned output, launch, download; and what they compute, in float64, by their
 * formulas.
 */
final class RowRun {
    private static final double[] NONE = {};
    static final double EPSILON = 1e-5;

    private RowRun() {}

    /** Rows as they lie, without factors. */
    static double[] rows(KernelStage stage, RowKernels.Rows launch, double[] x, int shift) {
        return rows(stage, launch, x, NONE, NONE, shift, 0, _ -> {});
    }

    /**
     * Runs a launch, twice where blocks share rows: the counters must then be as they were.
     *
     * @param gamma one a column, or empty for none; beta likewise
     * @param shiftX elements from the start of its buffer
     * @param shiftY likewise
     * @param check sees the result of each run
     * @return the last result
     */
    static double[] rows(
            KernelStage stage,
            RowKernels.Rows launch,
            double[] x,
            double[] gamma,
            double[] beta,
            int shiftX,
            int shiftY,
            Consumer<double[]> check) {
        DType dtype = launch.dtype();
        DeviceBuffer onX = stage.upload(dtype, x, shiftX);
        DeviceBuffer onY = stage.poisoned((long) (x.length + shiftY) * dtype.bytes());
        long g = gamma.length > 0 ? stage.upload(dtype, gamma, 0).address() : 0;
        long b = beta.length > 0 ? stage.upload(dtype, beta, 0).address() : 0;
        boolean shared = launch.plan().counterBytes() > 0;
        DeviceBuffer state = stage.poisoned(launch.plan().stateBytes());
        DeviceBuffer counters = stage.zeroed(launch.plan().counterBytes());
        double[] y = NONE;
        for (int run = 0; run < (shared ? 2 : 1); run++) {
            stage.poison(onY);
            launch.enqueue(
                    stage.stream(),
                    stage.arguments(),
                    onX.address() + (long) shiftX * dtype.bytes(),
                    new Affine(g, b, EPSILON),
                    onY.address() + (long) shiftY * dtype.bytes(),
                    state.address(),
                    counters.address());
            y = stage.download(dtype, onY, x.length, shiftY);
            check.accept(y);
        }
        return y;
    }

    /** Softmax or its logarithm along the middle dim of [outer, n, inner]. */
    static double[] strided(KernelStage stage, boolean log, DType dtype, double[] x, int outer, int n, int inner) {
        DeviceBuffer onX = stage.upload(dtype, x, 0);
        DeviceBuffer onY = stage.poisoned((long) x.length * dtype.bytes());
        stage.rows()
                .strided(log, dtype, outer, n, inner)
                .enqueue(stage.stream(), stage.arguments(), onX.address(), onY.address());
        return stage.download(dtype, onY, x.length, 0);
    }

    /** One row in place. gamma and beta are one element a column, or empty. */
    static void reference(RowRule rule, double[] row, double[] gamma, double[] beta, double epsilon) {
        switch (rule) {
            case SOFTMAX, LOG_SOFTMAX -> softmax(row, rule == RowRule.LOG_SOFTMAX);
            case LAYER_NORM -> {
                double mean = sum(row) / row.length;
                double variance = 0;
                for (double v : row) {
                    variance += (v - mean) * (v - mean) / row.length;
                }
                scale(row, mean, 1 / Math.sqrt(variance + epsilon), gamma, beta);
            }
            case RMS_NORM -> {
                double squares = 0;
                for (double v : row) {
                    squares += v * v / row.length;
                }
                scale(row, 0, 1 / Math.sqrt(squares + epsilon), gamma, beta);
            }
        }
    }

    private static void softmax(double[] row, boolean log) {
        double largest = Double.NEGATIVE_INFINITY;
        for (double v : row) {
            largest = v > largest ? v : largest;
        }
        double sum = 0;
        for (double v : row) {
            sum += Math.exp(v - largest);
        }
        for (int i = 0; i < row.length; i++) {
            row[i] = log ? row[i] - largest - Math.log(sum) : Math.exp(row[i] - largest) / sum;
        }
    }

    private static void scale(double[] row, double mean, double factor, double[] gamma, double[] beta) {
        for (int i = 0; i < row.length; i++) {
            double value = (row[i] - mean) * factor;
            value = gamma.length == 0 ? value : value * gamma[i];
            row[i] = beta.length == 0 ? value : value + beta[i];
        }
    }

    private static double sum(double[] row) {
        double sum = 0;
        for (double v : row) {
            sum += v;
        }
        return sum;
    }
}
