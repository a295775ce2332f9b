package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.MovementKernels;
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
import java.util.ArrayList;
import java.util.List;

/** Resampling: a launch that makes the tables of taps, then all axes at once, or one after the other. */
public final class GpuResizeLowering {
    private static final int MOST_DIMS = MovementKernels.MOST_DIMS;
    private static final int MOST_AXES_AT_ONCE = 3;
    /** Elements of x that one result may read at once before axis by axis reads fewer. */
    private static final long MOST_READS = 64;

    private static final int TABLE_BLOCKS = 1024;

    private GpuResizeLowering() {}

    /** Some neighbouring dims of the result as one, with x's stride; {@code axis} is a resampled one, -1 for none. */
    private record Dim(long size, long stride, int axis) {}

    /** The result's dims. */
    private record Walk(List<Dim> dims) {
        static Walk of(Shape x, Shape y, List<Integer> axes) {
            List<Dim> dims = new ArrayList<>();
            long[] strides = x.strides();
            for (int axis = 0; axis < y.rank(); axis++) {
                int resampled = axes.indexOf(axis);
                boolean merges =
                        resampled < 0 && !dims.isEmpty() && dims.getLast().axis() < 0;
                if (merges) {
                    long size = SizeMath.product("resize", dims.removeLast().size(), y.size(axis));
                    dims.add(new Dim(size, strides[axis], -1));
                } else if (resampled >= 0 || y.size(axis) != 1) {
                    dims.add(new Dim(y.size(axis), strides[axis], resampled));
                }
            }
            return new Walk(dims);
        }

        /** Elements that are moved together. */
        long run() {
            return dims.isEmpty() || dims.getLast().axis() >= 0
                    ? 1
                    : dims.getLast().size();
        }

        /** The same in elements that are {@code times} as wide. */
        Walk widened(long times) {
            List<Dim> wide = new ArrayList<>();
            for (int i = 0; i < dims.size(); i++) {
                Dim dim = dims.get(i);
                boolean last = i == dims.size() - 1;
                wide.add(new Dim(
                        last ? dim.size() / times : dim.size(),
                        last ? dim.stride() : dim.stride() / times,
                        dim.axis()));
            }
            return times == 1 ? this : new Walk(wide);
        }

        /** The struct ResizeWalk of resize.cuh. */
        long[] struct() {
            long[] words = new long[1 + 3 * MOST_DIMS];
            words[0] = dims.size();
            for (int i = 0; i < dims.size(); i++) {
                words[1 + i] = dims.get(i).size();
                words[1 + MOST_DIMS + i] = dims.get(i).stride();
                words[1 + 2 * MOST_DIMS + i] = dims.get(i).axis();
            }
            return words;
        }
    }

    /** The step of a resize of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(Resize op, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        String refusal = ResizeTables.refusal(op, x);
        if (!refusal.isEmpty()) {
            return new NoKernel(refusal);
        }
        ResizeTables tables = new ResizeTables(op, x, numberBytes(node.output().dtype()));
        if (tables.axes().size() > ResizeTables.MOST_AXES) {
            return new NoKernel(
                    "kernels resample at most " + ResizeTables.MOST_AXES + " axes; x is " + x + ", the result " + y);
        }
        Walk walk = Walk.of(x, y, tables.axes());
        boolean walks = walk.dims().size() <= MOST_DIMS;
        if (op.mode() == ResizeMode.NEAREST) {
            return walks
                    ? nearest(op, node, context, tables, walk)
                    : new NoKernel("kernels walk at most " + MOST_DIMS + " dims; x is " + x);
        }
        return walks && atOnce(op, tables)
                ? allAxes(op, node, context, tables, walk)
                : new AxisByAxis(op, node, context, tables).step();
    }

    /** Bytes of what sums are kept in. */
    static int numberBytes(DType dtype) {
        return dtype.isFloat() && dtype != DType.F64 ? 4 : 8;
    }

    private static boolean atOnce(Resize op, ResizeTables tables) {
        long reads = 1;
        for (int i = 0; i < tables.axes().size(); i++) {
            reads = SizeMath.estimate(reads, tables.taps(i));
        }
        // an infinite extrapolation value met by weights of both signs is NaN, which only axis by axis gives
        return tables.axes().size() <= MOST_AXES_AT_ONCE && reads <= MOST_READS && Double.isFinite(op.extrapolation());
    }

    /** The launch that fills the tables; only where an axis is resampled. */
    static void addTables(
            List<PreparedLaunch> launches, Kernels kernels, KernelVariant variant, Resize op, ResizeTables tables) {
        if (tables.axes().isEmpty()) {
            return;
        }
        boolean nearest = op.mode() == ResizeMode.NEAREST;
        int blocks = (int) Math.min(Math.ceilDiv(tables.longest(), 256L), TABLE_BLOCKS);
        launches.add(PreparedLaunch.of(
                        kernels.kernel(
                                nearest ? WindowCatalog.RESIZE_NEAREST : WindowCatalog.RESIZE,
                                nearest ? "resize_places" : "resize_taps",
                                variant),
                        LaunchShape.of(blocks, tables.axes().size(), 1, 256))
                .workspace(0)
                .struct(tables.struct())
                .build());
    }

    private static LaunchStep nearest(
            Resize op, Node node, GpuLoweringContext context, ResizeTables tables, Walk walk) {
        DType dtype = node.output().dtype();
        int width = dtype.bytes();
        boolean crops = op.coordinates() == CoordinateMode.TF_CROP_AND_RESIZE;
        long run = crops ? 1 : walk.run();
        int unit = MovementKernels.widest(SizeMath.product("resize", run, width));
        long elements = node.output().shape().elements() / (unit / width);
        KernelVariant variant = KernelFiles.width(unit);
        List<PreparedLaunch> launches = new ArrayList<>();
        addTables(launches, context.kernels(), variant, op, tables);
        launches.add(PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.RESIZE_NEAREST, "resize_nearest", variant),
                        Grids.of(elements))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .workspace(0)
                .add(elements)
                .struct(tables.struct())
                .struct(walk.widened(unit / width).struct())
                .add(Elements.fromDouble(dtype, op.extrapolation()))
                .build());
        return LaunchStep.of("resize_nearest, " + MovementKernels.access(unit), launches, tables.bytes());
    }

    private static LaunchStep allAxes(
            Resize op, Node node, GpuLoweringContext context, ResizeTables tables, Walk walk) {
        DType dtype = node.output().dtype();
        long elements = node.output().shape().elements();
        KernelVariant variant = KernelFiles.typed(dtype);
        List<PreparedLaunch> launches = new ArrayList<>();
        addTables(launches, context.kernels(), variant, op, tables);
        launches.add(number(
                        PreparedLaunch.of(
                                        context.kernels().kernel(WindowCatalog.RESIZE, "resize", variant),
                                        Grids.of(elements))
                                .value(context.slot(node.input(0)))
                                .value(context.slot(node.output()))
                                .workspace(0)
                                .add(elements)
                                .struct(tables.struct())
                                .struct(walk.struct())
                                .add(TypeCodes.of(dtype)),
                        dtype,
                        op.extrapolation())
                .build());
        return LaunchStep.of("resize, " + tables.axes().size() + " axes at once", launches, tables.bytes());
    }

    /** A number in the type that sums are kept in. */
    static PreparedLaunch.Builder number(PreparedLaunch.Builder launch, DType dtype, double value) {
        return dtype.isFloat() ? launch.compute(dtype, value) : launch.add(value);
    }
}
