package dev.tenon.cuda.lower.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.cuda.kernel.IndexingCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Running sums and products: warps for short rows, blocks for long ones, threads side by side for other axes. */
public final class GpuCumulativeLowering {
    private static final int THREADS = 256;
    private static final int WARPS = 8;

    /** Elements of a row up to which a warp goes through it. */
    private static final long SHORT_ROW = 1024;

    /** Elements that a block takes at a time, and that a part has at least, in rows. */
    private static final long TILE = 1024;

    private static final long LEAST_ROW_PART = 4 * TILE;
    /** Rows that fill the device with a warp each. */
    private static final long MANY_ROWS = 8192;

    private static final long ACCESS_BYTES = 16;
    private static final long LEAST_LANE_PART = 64;
    private static final long MOST_PARTS = 512;
    private static final int WAVES = 4;

    private GpuCumulativeLowering() {}

    /**
     * The lanes of an operation.
     *
     * @param parts that each is cut into
     * @param part elements of one
     */
    private record Lanes(
            Cumulative op,
            Node node,
            GpuLoweringContext context,
            long count,
            long n,
            long inner,
            long parts,
            long part) {
        static Lanes of(Cumulative op, Node node, GpuLoweringContext context) {
            Shape x = node.input(0).shape();
            long n = x.size(op.axis());
            long inner = x.elements(op.axis() + 1, x.rank());
            long count = x.elements() / n;
            long blocks = (long) WAVES * context.kernels().context().device().multiprocessors();
            boolean rows = inner == 1;
            long filled = rows ? blocks / count : blocks * THREADS / count;
            long most = Math.min(MOST_PARTS, n / (rows ? LEAST_ROW_PART : LEAST_LANE_PART));
            long wanted = Math.clamp(filled, 1, Math.max(1, most));
            long part = Math.ceilDiv(n, wanted);
            part = rows ? SizeMath.roundUp("cumulative", part, TILE) : part;
            return new Lanes(op, node, context, count, n, inner, Math.ceilDiv(n, part), part);
        }

        /** Whether rows of floats, short or many, begin and end on 16-byte boundaries. */
        boolean takesPacks() {
            return inner == 1
                    && dtype().isFloat()
                    && !op.reverse()
                    && dtype().bytesFor(n) % ACCESS_BYTES == 0
                    && (n <= SHORT_ROW || count >= MANY_ROWS);
        }

        DType dtype() {
            return node.input(0).dtype();
        }

        Kernel kernel(String entry) {
            return context.kernels().kernel(IndexingCatalog.CUMULATIVE, entry, KernelFiles.typed(dtype()));
        }

        KernelArguments how(KernelArguments arguments) {
            return arguments
                    .add(op.fn() == CumulativeFn.PROD ? 1 : 0)
                    .add(TypeCodes.of(dtype()))
                    .add(op.exclusive() ? 1 : 0)
                    .add(op.reverse() ? 1 : 0);
        }
    }

    public static GpuStep lower(Cumulative op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Lanes lanes = Lanes.of(op, node, context);
        int input = context.slot(node.input(0));
        int output = context.slot(node.output());
        if (lanes.takesPacks()) {
            return packs(lanes, input, output);
        }
        if (lanes.inner() == 1 && lanes.n() <= SHORT_ROW) {
            long blocks = Math.ceilDiv(lanes.count(), (long) WARPS);
            LaunchShape shape = LaunchShape.of((int) Math.min(blocks, Integer.MAX_VALUE), THREADS);
            return new LaunchStep(
                    "cumulative, a warp a row",
                    LaunchStep.launch(
                            lanes.kernel("cumulative_warp"),
                            shape,
                            (arguments, frame) -> lanes.how(
                                            arguments.add(frame.at(input)).add(frame.at(output)))
                                    .add(lanes.count())
                                    .add(lanes.n())));
        }
        boolean rows = lanes.inner() == 1;
        Kernel kernel = lanes.kernel(rows ? "cumulative_rows" : "cumulative_lanes");
        LaunchShape shape = rows
                ? LaunchShape.of((int) lanes.parts(), (int) Math.min(lanes.count(), GridLimits.YZ), 1, THREADS)
                : LaunchShape.of(
                        (int) Math.min(Math.ceilDiv(lanes.count(), (long) THREADS), Integer.MAX_VALUE),
                        (int) lanes.parts(),
                        1,
                        THREADS);
        List<LaunchStep.Work> works = new ArrayList<>();
        for (int only = lanes.parts() > 1 ? 1 : 0; only >= 0; only--) {
            int totals = only;
            works.add(LaunchStep.launch(
                    kernel, shape, (arguments, frame) -> fill(lanes, arguments, frame, input, output, totals)));
        }
        String tier = "cumulative, a " + (rows ? "block a row" : "thread a lane")
                + (lanes.parts() > 1 ? ", " + lanes.parts() + " parts" : "");
        long workspace =
                lanes.parts() > 1 ? SizeMath.product("cumulative", lanes.count(), lanes.parts(), Long.BYTES) : 0;
        return LaunchStep.of(tier, works, workspace);
    }

    private static GpuStep packs(Lanes lanes, int input, int output) {
        long blocks = Math.ceilDiv(lanes.count(), (long) WARPS);
        return new LaunchStep(
                "cumulative_packs, a warp a row, 16 bytes an access",
                LaunchStep.launch(
                        lanes.context()
                                .kernels()
                                .kernel(
                                        IndexingCatalog.CUMULATIVE_PACKS,
                                        "cumulative_packs",
                                        KernelVariant.of(lanes.dtype())),
                        LaunchShape.of((int) Math.min(blocks, Integer.MAX_VALUE), THREADS),
                        (arguments, frame) -> arguments
                                .add(frame.at(input))
                                .add(frame.at(output))
                                .add(lanes.op().fn() == CumulativeFn.PROD ? 1 : 0)
                                .add(lanes.op().exclusive() ? 1 : 0)
                                .add(lanes.count())
                                .add(lanes.n())));
    }

    private static KernelArguments fill(
            Lanes lanes, KernelArguments arguments, GpuFrame frame, int input, int output, int onlyTotals) {
        lanes.how(arguments
                        .add(frame.at(input))
                        .add(frame.at(output))
                        .add(frame.workspace())
                        .add(onlyTotals))
                .add(lanes.count())
                .add(lanes.n());
        if (lanes.inner() > 1) {
            arguments.add(lanes.inner());
        }
        return arguments.add(lanes.parts()).add(lanes.part());
    }
}
