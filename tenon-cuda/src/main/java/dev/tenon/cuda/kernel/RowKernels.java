package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;

/**
 * Softmax, log-softmax, LayerNorm and RmsNorm: prepares launches. The element types are f32, f16, bf16 and f64; all but
 * f64 are computed in f32. Thread-safe.
 */
public final class RowKernels {
    private static final int STRAND_LIMIT = 32;

    private final Kernels kernels;

    public RowKernels(Kernels kernels) {
        this.kernels = kernels;
    }

    /** How {@link #rows} will launch, without compiling anything. */
    public static RowPlan plan(
            RowRule rule, DType dtype, long rows, long cols, boolean congruent, DeviceProperties device) {
        return RowPlan.of(rule, dtype, rows, cols, congruent, device);
    }

    /** The same in the form for rows of any length. */
    public static RowPlan blockPlan(
            RowRule rule, DType dtype, long rows, long cols, boolean congruent, DeviceProperties device) {
        return RowPlan.block(rule, dtype, rows, cols, congruent, device);
    }

    /**
     * Rows of {@code cols} consecutive elements; both sizes at least 1.
     *
     * @param congruent whether x and y will lie equally far from 16-byte boundaries: then 16 bytes an access
     */
    public Rows rows(RowRule rule, DType dtype, long rows, long cols, boolean congruent) {
        return rows(
                rule,
                dtype,
                rows,
                cols,
                plan(rule, dtype, rows, cols, congruent, kernels.context().device()));
    }

    /** The same where x, y, gamma and beta all lie on 16-byte boundaries. */
    public Rows alignedRows(RowRule rule, DType dtype, long rows, long cols) {
        RowPlan plan =
                RowPlan.aligned(rule, dtype, rows, cols, kernels.context().device());
        return rows(rule, dtype, rows, cols, plan);
    }

    /** The same with a plan of one's own. */
    public Rows rows(RowRule rule, DType dtype, long rows, long cols, RowPlan plan) {
        int sharedBytes = plan.shape().sharedBytes();
        Kernel kernel = kernels.kernel(plan.file(), plan.entry(), rule.variant(dtype), sharedBytes);
        return new Rows(rule, dtype, rows, cols, plan, kernel);
    }

    /** Adds a number in the type that {@code dtype} is computed in. */
    static void addCompute(KernelArguments arguments, DType dtype, double value) {
        if (dtype == DType.F64) {
            arguments.add(value);
        } else {
            arguments.add((float) value);
        }
    }

    /** Softmax or its logarithm along the middle dim of [outer, n, inner], every size at least 1. */
    public Strided strided(boolean log, DType dtype, long outer, long n, long inner) {
        Kernel kernel = kernels.kernel(KernelCatalog.SOFTMAX_STRIDED, "softmax_strided", KernelCatalog.log(dtype, log));
        int strands = Math.clamp(Long.highestOneBit(Math.ceilDiv(n, 4)), 1, STRAND_LIMIT);
        LaunchShape shape = new LaunchShape(
                SizeMath.toInt("rows", Math.ceilDiv(inner, 32)),
                (int) Math.min(outer, GridLimits.YZ),
                1,
                32,
                strands,
                1,
                0,
                false,
                1,
                false);
        return new Strided(outer, n, inner, shape, kernel);
    }

    /** The plain form, one block of 256 threads a row. */
    public ThreePass threePass(DType dtype, long rows, long cols) {
        Kernel kernel = kernels.kernel(KernelCatalog.SOFTMAX_THREE_PASS, "softmax_three_pass", KernelVariant.of(dtype));
        int threads = Math.clamp(Math.ceilDiv(cols, 32) * 32, 32, 256);
        return new ThreePass(rows, cols, LaunchShape.of((int) Math.min(rows, Integer.MAX_VALUE), threads), kernel);
    }

    /** A prepared launch over rows. Immutable; enqueue with a slab of the calling thread. */
    public record Rows(RowRule rule, DType dtype, long rows, long cols, RowPlan plan, Kernel kernel) {
        /**
         * Enqueues it.
         *
         * @param affine of the norms
         * @param state workspace of {@link RowPlan#stateBytes()}; anything where that is 0
         * @param counters {@link RowPlan#counterBytes()} that are 0 before and after, used by one stream at a time;
         *     anything where that is 0
         */
        public void enqueue(
                GpuStream stream, KernelArguments arguments, long x, Affine affine, long y, long state, long counters) {
            arguments.clear().add(x);
            if (rule.gamma) {
                arguments.add(affine.gamma());
            }
            if (rule.beta) {
                arguments.add(affine.beta());
            }
            arguments.add(y).add(rows).add(cols);
            if (rule.gamma) {
                addCompute(arguments, dtype, affine.epsilon());
            }
            switch (plan.form()) {
                case WARP -> {}
                case SHORT, TEAM -> arguments.add(plan.blocks());
                case BLOCK ->
                    arguments.add(plan.blocks()).add(plan.kept()).add(state).add(counters);
            }
            stream.launch(kernel.function(), plan.shape(), arguments);
        }

        /**
         * The same launch, allowed to start before its predecessor in the stream has ended; the kernel waits by itself.
         */
        public Rows overlapping() {
            return new Rows(rule, dtype, rows, cols, plan.overlapping(), kernel);
        }
    }

    /** A prepared launch along a middle dim. */
    public record Strided(long outer, long n, long inner, LaunchShape shape, Kernel kernel) {
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments.clear().add(x).add(y).add(outer).add(n).add(inner));
        }
    }

    /** A prepared launch of the plain form. */
    public record ThreePass(long rows, long cols, LaunchShape shape, Kernel kernel) {
        public void enqueue(GpuStream stream, KernelArguments arguments, long x, long y) {
            stream.launch(
                    kernel.function(),
                    shape,
                    arguments.clear().add(x).add(y).add(rows).add(cols));
        }
    }
}
