package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.convolution.DeformColumns;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Images sampled at places that are computed, and regions of them. */
public final class GpuSampleLowering {
    private static final int MOST_DIMS = 8;
    private static final long THREADS_A_MULTIPROCESSOR = 2048;

    private GpuSampleLowering() {}

    /**
     * How threads share places and channels: as many channels a thread as leave every multiprocessor full.
     *
     * @param planes images, or cells
     */
    private record Chunks(long places, long channels, long each, long planes) {
        static Chunks of(GpuLoweringContext context, long places, long channels, long planes) {
            long enough = THREADS_A_MULTIPROCESSOR
                    * context.kernels().context().device().multiprocessors();
            long work = SizeMath.product("sample", places, channels, planes);
            return new Chunks(places, channels, Math.clamp(work / enough, 1, channels), planes);
        }

        long threads() {
            return SizeMath.product("sample", planes, Math.ceilDiv(channels, each), places);
        }

        /** The struct Chunks of sample.cuh. */
        LongStream words() {
            return LongStream.of(places, channels, each, planes);
        }
    }

    /** A grid's samples. */
    public static Lowered lower(GridSample op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape grid = node.input(1).shape();
        int dims = x.rank() - 2;
        if (dims > MOST_DIMS) {
            return new NoKernel("kernels sample at most " + MOST_DIMS + " spatial dims; x is " + x);
        }
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Chunks chunks = Chunks.of(context, grid.elements(1, grid.rank() - 1), x.size(1), x.size(0));
        Shape space = x.range(2, x.rank());
        long[] words = Stream.of(
                        LongStream.of(dims),
                        padded(space.sizes()),
                        padded(space.strides()),
                        chunks.words(),
                        LongStream.of(
                                WindowCodes.of(op.mode()),
                                WindowCodes.of(op.padding()),
                                op.alignCorners() ? 1 : 0,
                                TypeCodes.of(node.input(1).dtype())))
                .flatMapToLong(part -> part)
                .toArray();
        String entry = dims <= 3 ? "grid_sample" + dims + "d" : "grid_sample";
        PreparedLaunch launch = PreparedLaunch.of(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.GRID_SAMPLE,
                                        entry,
                                        KernelVariant.of(node.output().dtype())),
                        Grids.of(chunks.threads()))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.output()))
                .struct(words)
                .build();
        return LaunchStep.of(entry + ", " + chunks.each() + " channels a thread", launch);
    }

    private static LongStream padded(long[] values) {
        long[] all = new long[MOST_DIMS];
        System.arraycopy(values, 0, all, 0, values.length);
        return LongStream.of(all);
    }

    /** The struct RoiSpace of roi.cu. */
    private record Rois(Shape x, Shape y, long samples, double scale, boolean halfPixel, boolean max, boolean wide) {
        long[] words() {
            return new long[] {
                x.size(0),
                x.size(1),
                x.size(2),
                x.size(3),
                y.size(2),
                y.size(3),
                y.elements(),
                samples,
                Double.doubleToRawLongBits(scale),
                halfPixel ? 1 : 0,
                max ? 1 : 0,
                wide ? 1 : 0
            };
        }
    }

    /** Regions from bilinear samples. */
    public static GpuStep lower(RoiAlign op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape x = node.input(0).shape();
        boolean wide = node.input(2).dtype() == DType.I64;
        Rois rois = new Rois(x, y, op.samples(), op.scale(), op.halfPixel(), op.max(), wide);
        PreparedLaunch launch = regions("roi_align", node, context)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.input(2)))
                .value(context.slot(node.output()))
                .struct(rois.words())
                .faults(context)
                .build();
        return LaunchStep.of("roi_align, a thread a result", launch).withFaults(value -> fault(value, x));
    }

    /** Maxima of regions. */
    public static GpuStep lower(MaxRoiPool op, Node node, GpuLoweringContext context) {
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape x = node.input(0).shape();
        PreparedLaunch launch = regions("max_roi_pool", node, context)
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)))
                .value(context.slot(node.output()))
                .struct(new Rois(x, y, 0, op.scale(), false, true, false).words())
                .faults(context)
                .build();
        return LaunchStep.of("max_roi_pool, a thread a result", launch).withFaults(value -> fault(value, x));
    }

    private static PreparedLaunch.Builder regions(String entry, Node node, GpuLoweringContext context) {
        return PreparedLaunch.of(
                context.kernels()
                        .kernel(
                                WindowCatalog.ROI,
                                entry,
                                KernelVariant.of(node.output().dtype())),
                Grids.of(node.output().shape().elements()));
    }

    private static String fault(long value, Shape x) {
        long roi = value / 2;
        return value % 2 == 0
                ? "roi " + roi + " is of an image that is not there; expected 0 to " + (x.size(0) - 1)
                : "roi " + roi + " has no finite place or is too long; expected finite numbers within the image";
    }

    /** What a deformable convolution multiplies its weights by. */
    public static GpuStep lower(DeformColumns op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        Shape x = node.input(0).shape();
        Shape offsets = node.input(1).shape();
        long cells = SizeMath.product(
                "deform_columns", op.kernel().get(0), op.kernel().get(1));
        Chunks chunks = Chunks.of(
                context,
                offsets.elements(2, 4),
                x.size(1) / op.groups(),
                SizeMath.product("deform_columns", x.size(0), op.groups(), cells));
        long[] words = Stream.of(
                        LongStream.of(x.size(2), x.size(3)),
                        op.kernel().stream().mapToLong(Long::longValue),
                        op.strides().stream().mapToLong(Long::longValue),
                        op.padsBefore().stream().mapToLong(Long::longValue),
                        op.dilations().stream().mapToLong(Long::longValue),
                        LongStream.of(op.groups(), offsets.size(3)),
                        chunks.words())
                .flatMapToLong(part -> part)
                .toArray();
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.DEFORM_COLUMNS,
                                        "deform_columns",
                                        KernelVariant.of(node.output().dtype())),
                        Grids.of(chunks.threads()))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.input(1)));
        if (op.mask()) {
            launch.value(context.slot(node.input(2)));
        } else {
            launch.none();
        }
        return LaunchStep.of(
                "deform_columns, " + chunks.each() + " channels a thread",
                launch.value(context.slot(node.output())).struct(words).build());
    }
}
