package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A convolution on tensor cores: x and the weights are brought into channels side by side, then one product per phase.
 * Used by one thread while a plan is made.
 */
final class MmaConv {
    private static final int CHUNK_BYTES = 16;
    private static final int MOST_BITS = 63;
    private static final long MOST_PHASES = 64;
    private static final long LARGE = 1L << 31;
    /** Multiplications per result below which the tile's columns or steps would be mostly empty. */
    private static final long LEAST_DEPTH = 16;

    private static final long LEAST_OUTPUTS = 8;
    private static final int STATIC_SHARED = 4 << 10; // at least what the kernels declare

    private final ConvGeometry geometry;
    private final ConvOperands operands;
    private final GpuLoweringContext context;
    private final Workspace workspace = new Workspace();
    private final List<LaunchStep.Work> works = new ArrayList<>();
    /** 16-byte chunks of a group's channels. */
    private final long chunks;

    MmaConv(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        this.geometry = geometry;
        this.operands = operands;
        this.context = context;
        this.chunks = chunks(geometry, operands.dtype());
    }

    private static long chunks(ConvGeometry geometry, DType dtype) {
        return Math.ceilDiv(dtype.bytesFor(geometry.channels()), (long) CHUNK_BYTES);
    }

    /** Why tensor cores do not take a convolution; empty where they do. */
    static String refusal(ConvGeometry geometry, DType dtype, GpuLoweringContext context) {
        int capability = context.kernels().context().device().architecture().number();
        if (dtype == DType.F64) {
            return "tensor cores take f16, bf16 and TF32, not f64";
        }
        if (dtype == DType.F32 && context.precision() == Precision.STRICT) {
            return "STRICT keeps f32 out of TF32";
        }
        if (capability < (dtype == DType.F16 ? 75 : 80)) {
            return "compute capability " + context.kernels().context().device().architecture() + " has none for "
                    + dtype;
        }
        return refusal(geometry, dtype);
    }

    /** Whether a group's channels are whole chunks, so that nothing need be packed where they lie innermost. */
    static boolean isWhole(ConvGeometry geometry, DType dtype) {
        return dtype.bytesFor(geometry.channels()) % CHUNK_BYTES == 0;
    }

    /** Whether channels that lie innermost are read as they are, or packed at little cost. */
    static boolean takesLast(ConvGeometry geometry, DType dtype) {
        return isWhole(geometry, dtype) || (geometry.groups() == 1 && chunks(geometry, dtype) == 1);
    }

    /** Why tensor cores do not take a convolution's sizes; empty where they do. */
    static String refusal(ConvGeometry geometry, DType dtype) {
        if (geometry.axes().size() > ConvPhase.DIMS) {
            return geometry.axes().size() + " spatial dims are more than " + ConvPhase.DIMS;
        }
        long depth = SizeMath.estimate(geometry.channels(), geometry.cells());
        if (depth < LEAST_DEPTH || geometry.outputs() < LEAST_OUTPUTS) {
            return "groups of " + geometry.channels() + " channels and " + geometry.outputs()
                    + " outputs leave tiles mostly empty";
        }
        return sizes(geometry, dtype);
    }

    private static String sizes(ConvGeometry geometry, DType dtype) {
        if (ConvPhase.count(geometry) > MOST_PHASES) {
            return "strides of more than " + MOST_PHASES + " remainders";
        }
        long chunks = chunks(geometry, dtype);
        long x = SizeMath.estimate(geometry.batch(), geometry.groups(), geometry.area(), chunks);
        long w = SizeMath.estimate(geometry.groups(), geometry.outputs(), geometry.cells(), chunks);
        long rows = SizeMath.estimate(geometry.batch(), geometry.positions());
        long reach = 1;
        for (ConvGeometry.Axis axis : geometry.axes()) {
            reach = SizeMath.estimate(reach, Math.max(axis.input(), axis.before() + axis.kernel() * axis.dilation()));
        }
        long walked = SizeMath.estimate(reach, geometry.groups(), chunks);
        if (Math.max(Math.max(x, w), Math.max(rows, walked)) >= LARGE / 2) {
            return "places are counted in 32 bits";
        }
        for (ConvPhase phase : ConvPhase.of(geometry)) {
            if (phase.bits() > MOST_BITS || phase.cells() > ConvTiles.MOST_CELLS) {
                return "windows of more than " + MOST_BITS + " cells along their axes, or " + ConvTiles.MOST_CELLS
                        + " in all";
            }
        }
        return "";
    }

    /** What it takes by the model, of a convolution that it takes. */
    static double microseconds(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        MmaConv conv = new MmaConv(geometry, operands, context);
        double products = ConvPhase.of(geometry).stream()
                .mapToDouble(phase -> conv.tiles(phase)
                        .microseconds(
                                conv.problem(phase),
                                context.kernels().context().device().multiprocessors()))
                .sum();
        return products
                + (conv.packsImages() ? ConvPack.microseconds(conv.imageBytes()) : 0)
                + (conv.packsWeights() ? ConvPack.microseconds(conv.weightBytes()) : 0);
    }

    /** Whether x or the weights lie as products read them. */
    private boolean liesPacked() {
        return geometry.last() && isWhole(geometry, operands.dtype());
    }

    private boolean packsImages() {
        return !liesPacked() && (!isWhole(geometry, operands.dtype()) || geometry.area() > 1);
    }

    private boolean packsWeights() {
        return !liesPacked() && (!isWhole(geometry, operands.dtype()) || geometry.cells() > 1 || geometry.transposed());
    }

    private long imageBytes() {
        return SizeMath.product("conv", geometry.batch(), geometry.area(), geometry.groups(), chunks, CHUNK_BYTES);
    }

    private long weightBytes() {
        long outputs = SizeMath.product("conv", geometry.groups(), geometry.outputs());
        return SizeMath.product("conv", outputs, geometry.cells(), chunks, CHUNK_BYTES);
    }

    GpuStep step(List<String> passedOver) {
        DType dtype = operands.dtype();
        long area = geometry.area();
        long cells = geometry.cells();
        boolean last = geometry.last();
        long x = -1;
        if (packsImages()) {
            x = workspace.take(imageBytes());
            long images = last ? SizeMath.product("conv", geometry.batch(), area) : geometry.batch();
            works.add(ConvPack.launch(operands.x(), x, operands.dtype(), context, new long[] {
                images, geometry.groups(), geometry.channels(), last ? 1 : area
            }));
        }
        long w = -1;
        if (packsWeights()) {
            long outputs = SizeMath.product("conv", geometry.groups(), geometry.outputs());
            w = workspace.take(weightBytes());
            long[] sizes = geometry.transposed()
                    ? new long[] {geometry.groups(), 1, geometry.channels(), geometry.outputs() * cells}
                    : last
                            ? new long[] {SizeMath.product("conv", outputs, cells), 1, geometry.channels(), 1}
                            : new long[] {outputs, 1, geometry.channels(), cells};
            works.add(ConvPack.launch(operands.w(), w, operands.dtype(), context, sizes));
        }
        long counters = 0;
        String entry = "";
        for (ConvPhase phase : ConvPhase.of(geometry)) {
            ConvTiles tiles = tiles(phase);
            long blocks = tiles.tiles(problem(phase));
            if (tiles.splits() > 1) {
                counters = Math.max(counters, 2L * Integer.BYTES * blocks * geometry.groups());
            }
            works.add(product(phase, tiles, x, w));
            entry = tiles.form().entry() + (tiles.splits() > 1 ? " in " + tiles.splits() + " parts" : "");
        }
        String layout = geometry.last() ? ", channels last" : "";
        String name =
                "3 implicit gemm: " + entry + ", " + (dtype == DType.F32 ? "TF32" : dtype) + layout + operands.words();
        return new LaunchStep(name, works, workspace.bytes(), counters, GpuStep::noResult, passedOver);
    }

    private ConvTiles.Problem problem(ConvPhase phase) {
        long rows = SizeMath.product("conv", geometry.batch(), phase.positions());
        return new ConvTiles.Problem(rows, geometry.outputs(), geometry.groups(), phase.cells(), chunks);
    }

    private ConvTiles tiles(ConvPhase phase) {
        DeviceProperties device = context.kernels().context().device();
        ConvTiles.Problem problem = problem(phase);
        return context.shared(
                problem,
                ConvTiles.class,
                () -> ConvTiles.of(
                        problem, device.multiprocessors(), device.sharedBytesPerBlockOptIn() - STATIC_SHARED));
    }

    private PreparedLaunch product(ConvPhase phase, ConvTiles tiles, long x, long w) {
        ConvTiles.Form form = tiles.form();
        int shared = form.sharedBytes(phase.cells());
        Kernel kernel = context.kernels()
                .kernel(WindowCatalog.CONV_MMA, form.entry(), WindowCatalog.tensorCores(operands.dtype()), shared);
        long blocks = tiles.tiles(problem(phase));
        LaunchShape shape = LaunchShape.of(
                        SizeMath.toInt("conv", blocks),
                        (int) Math.min(geometry.groups(), GridLimits.YZ),
                        (int) tiles.splits(),
                        form.threads())
                .withSharedBytes(shared);
        PreparedLaunch.Builder launch = PreparedLaunch.of(kernel, shape);
        launch = x < 0 ? launch.value(operands.x()) : launch.workspace(x);
        launch = w < 0 ? launch.value(operands.w()) : launch.workspace(w);
        launch.value(operands.bias()).value(operands.residual()).value(operands.y());
        if (tiles.splits() > 1) {
            long tile = SizeMath.product("conv", form.rows(), form.columns(), Float.BYTES);
            long bytes = SizeMath.product("conv", blocks, geometry.groups(), tiles.splits(), tile);
            long partials = workspace.take(bytes);
            launch.workspace(partials).counters();
            workspace.release(partials, bytes);
        } else {
            launch.none().none();
        }
        return operands.activation(launch.struct(words(phase, tiles.splits()))).build();
    }

    /** The struct ConvTile of conv_mma.cu. */
    private long[] words(ConvPhase phase, long splits) {
        List<ConvGeometry.Axis> axes = new ArrayList<>(geometry.axes());
        while (axes.size() < ConvPhase.DIMS) {
            axes.addFirst(ConvGeometry.UNIT);
        }
        long positions = geometry.positions();
        long[] stride = {
            axes.get(1).kernel() * axes.get(2).kernel(), axes.get(2).kernel(), 1
        };
        long origin = 0;
        for (int i = 0; i < ConvPhase.DIMS; i++) {
            origin += phase.axes().get(i).cell() * stride[i];
        }
        LongStream words = LongStream.of(
                geometry.batch(),
                geometry.groups(),
                geometry.outputs(),
                chunks,
                geometry.cells(),
                origin,
                SizeMath.product("conv", geometry.groups(), geometry.outputs(), positions),
                geometry.last() ? geometry.groups() * geometry.outputs() : 1,
                geometry.last() ? 1 : positions,
                splits);
        words = LongStream.concat(words, axes.stream().mapToLong(ConvGeometry.Axis::input));
        words = LongStream.concat(words, axes.stream().mapToLong(ConvGeometry.Axis::output));
        List<ConvPhase.Axis> parts = phase.axes();
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::count));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::first));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::step));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::cells));
        words = LongStream.concat(
                words,
                LongStream.of(
                        parts.get(0).skip() * stride[0],
                        parts.get(1).skip() * stride[1],
                        parts.get(2).skip()));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::origin));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::move));
        words = LongStream.concat(words, parts.stream().mapToLong(ConvPhase.Axis::turn));
        return words.toArray();
    }
}
