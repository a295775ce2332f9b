package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Pooling over windows: a thread a result, or a row of lanes where windows are large and results few. */
public final class GpuPoolLowering {
    private static final int MOST_DIMS = 8;
    private static final int THREADS = 256;
    private static final int WARP = 32;
    private static final int CHUNK_BYTES = 16;
    /** Windows from this number of cells on may be shared by lanes. */
    private static final long LARGE_WINDOW = 32;

    private static final long HUGE_WINDOW = 2048;
    /** Results along the last dim from which neighbouring threads read neighbouring elements. */
    private static final long WIDE_ROW = 16;

    private static final long ENOUGH_RESULTS_A_MULTIPROCESSOR = 1024;

    private GpuPoolLowering() {}

    /** The windows of both operations; dims are the spatial ones. */
    private record Windows(
            List<Long> kernel, List<Long> strides, List<Long> padsBefore, List<Long> padsAfter, List<Long> dilations) {
        /** The struct PoolWindows of pool.cu. */
        long[] struct(Shape x, Shape y) {
            long[] words = new long[1 + 7 * MOST_DIMS];
            words[0] = kernel.size();
            for (int axis = 0; axis < kernel.size(); axis++) {
                long[] values = {
                    x.size(axis + 2),
                    y.size(axis + 2),
                    kernel.get(axis),
                    strides.get(axis),
                    padsBefore.get(axis),
                    padsAfter.get(axis),
                    dilations.get(axis)
                };
                for (int i = 0; i < values.length; i++) {
                    words[1 + i * MOST_DIMS + axis] = values[i];
                }
            }
            return words;
        }
    }

    /** What is made of a window. */
    private record Options(PoolFn fn, boolean countPadding, boolean columnMajor, long p) {
        /** The struct PoolOptions of pool.cu. */
        long[] struct(DType dtype, long results) {
            return new long[] {
                WindowCodes.of(fn) | (long) TypeCodes.of(dtype) << 32,
                (countPadding ? 1 : 0) | (columnMajor ? 1L : 0L) << 32,
                p,
                results
            };
        }
    }

    /** Maximum, average or norm. */
    public static Lowered lower(Pool op, Node node, GpuLoweringContext context) {
        Windows windows = new Windows(op.kernel(), op.strides(), op.padsBefore(), op.padsAfter(), op.dilations());
        return lower(windows, new Options(op.fn(), op.countPadding(), false, op.p()), node, context);
    }

    /** Maximum and its place. */
    public static Lowered lower(MaxPoolIndices op, Node node, GpuLoweringContext context) {
        Windows windows = new Windows(op.kernel(), op.strides(), op.padsBefore(), op.padsAfter(), op.dilations());
        return lower(windows, new Options(PoolFn.MAX, false, op.columnMajor(), 0), node, context);
    }

    private static Lowered lower(Windows windows, Options options, Node node, GpuLoweringContext context) {
        int dims = windows.kernel().size();
        Shape x = node.input(0).shape();
        Shape y = node.outputs().getFirst().shape();
        if (dims > MOST_DIMS) {
            return new NoKernel("kernels pool over at most " + MOST_DIMS + " spatial dims; x " + x + " has " + dims);
        }
        if (y.elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        DType dtype = node.input(0).dtype();
        if (takesLast(windows, options, node)) {
            return last(windows, options, node, context);
        }
        long results = y.elements();
        long cells = cells(windows, x);
        boolean few = y.size(dims + 1) < WIDE_ROW
                || results
                        < ENOUGH_RESULTS_A_MULTIPROCESSOR
                                * context.kernels().context().device().multiprocessors();
        boolean wide = cells >= LARGE_WINDOW && few;
        int lanes = cells >= HUGE_WINDOW ? THREADS : WARP;
        String entry = wide ? "pool_wide" : dims <= 3 ? "pool" + dims + "d" : "pool";
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.POOL, entry, KernelFiles.typed(dtype)),
                        wide ? rows(results, lanes) : Grids.of(results))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.outputs().getFirst()));
        if (node.outputs().size() > 1) {
            launch.value(context.slot(node.outputs().getLast()));
        } else {
            launch.none();
        }
        return LaunchStep.of(
                entry + (wide ? ", " + lanes + " lanes a result" : ", a thread a result"),
                launch.struct(windows.struct(x, y))
                        .struct(options.struct(dtype, results))
                        .build());
    }

    /** Whether windows are of two dims, with channels in whole packs behind them. */
    private static boolean takesLast(Windows windows, Options options, Node node) {
        DType dtype = node.input(0).dtype();
        int dims = windows.kernel().size();
        int last = dims - 1;
        boolean floats = dtype == DType.F32 || dtype == DType.F16 || dtype == DType.BF16;
        return floats
                && dims == 3
                && node.outputs().size() == 1
                && options.fn() != PoolFn.LP
                && windows.kernel().get(last) == 1
                && windows.strides().get(last) == 1
                && windows.padsBefore().get(last) == 0
                && windows.padsAfter().get(last) == 0
                && dtype.bytesFor(node.input(0).shape().size(dims + 1)) % CHUNK_BYTES == 0;
    }

    private static LaunchStep last(Windows windows, Options options, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        DType dtype = node.input(0).dtype();
        long packs = dtype.bytesFor(x.size(4)) / CHUNK_BYTES;
        PreparedLaunch launch = PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.POOL_LAST, "pool_last", KernelVariant.of(dtype)),
                        Grids.of(SizeMath.product("pool", y.elements(0, 4), packs)))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .struct(
                        x.elements(0, 2),
                        packs,
                        x.size(2),
                        x.size(3),
                        y.size(2),
                        y.size(3),
                        windows.kernel().get(0),
                        windows.kernel().get(1),
                        windows.strides().get(0),
                        windows.strides().get(1),
                        windows.padsBefore().get(0),
                        windows.padsBefore().get(1),
                        windows.padsAfter().get(0),
                        windows.padsAfter().get(1),
                        windows.dilations().get(0),
                        windows.dilations().get(1),
                        options.countPadding() ? 1 : 0)
                .add(options.fn() == PoolFn.MAX ? 1 : 0)
                .build();
        return LaunchStep.of("pool_last, 16 bytes of channels a thread", launch);
    }

    /** The cells that a window has in the input at most. */
    private static long cells(Windows windows, Shape x) {
        long[] inside = new long[windows.kernel().size()];
        for (int axis = 0; axis < inside.length; axis++) {
            inside[axis] = Math.min(windows.kernel().get(axis), x.size(axis + 2));
        }
        return SizeMath.estimate(inside);
    }

    private static LaunchShape rows(long results, int lanes) {
        int across = THREADS / lanes;
        int blocks = (int) Math.min(Math.ceilDiv(results, (long) across), Integer.MAX_VALUE);
        return new LaunchShape(blocks, 1, 1, lanes, across, 1, 0, false, 1, false);
    }
}
