package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import dev.tenon.cuda.port.WindowMap;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A convolution by {@code conv_wgmma} or {@code conv_wgmma_kept}, its epilogue included. Where channels do not lie
 * innermost, which it takes of floats, x and the weights are brought into that order before, and the kernel writes
 * results as they shall lie. Thread-safe.
 */
final class WarpgroupConv implements GpuStep {
    private static final int CAPABILITY = 90;
    private static final int CHUNK = 16;
    private static final int DIMS = 2;
    private static final Set<UnaryFn> FUNCTIONS = Set.of(UnaryFn.RELU, UnaryFn.HARD_SWISH, UnaryFn.SILU);

    private final ConvGeometry geometry;
    private final ConvOperands operands;
    private final WarpgroupTiles tiles;
    private final Kernel kernel;
    private final LaunchShape launch;
    private final MemorySegment sizes;
    private final GpuContext device;
    private final @Nullable PreparedLaunch mend;
    private final List<String> passedOver;
    /** Null where channels lie innermost. */
    private final ConvPack.@Nullable Both packed;
    /** Of the last addresses: those of a session stay as they are. */
    private volatile @Nullable Maps last;

    private record Maps(long x, long w, MemorySegment windows, MemorySegment weights) {}

    private WarpgroupConv(
            ConvGeometry geometry,
            ConvOperands operands,
            WarpgroupTiles tiles,
            @Nullable PreparedLaunch mend,
            GpuLoweringContext context,
            List<String> passedOver) {
        this.geometry = geometry;
        this.operands = operands;
        this.tiles = tiles;
        this.mend = mend;
        this.device = context.kernels().context();
        this.passedOver = List.copyOf(passedOver);
        this.packed = geometry.last() ? null : ConvPack.Both.of(geometry, operands, context);
        this.kernel = context.kernels()
                .kernel(
                        tiles.form().keeping() ? WindowCatalog.CONV_WGMMA_KEPT : WindowCatalog.CONV_WGMMA,
                        tiles.form().entry(),
                        WindowCatalog.warpgroups(operands.dtype()),
                        tiles.sharedBytes());
        this.launch = tiles.launch(device.device());
        this.sizes =
                MemorySegment.ofArray(words(geometry, operands.dtype(), tiles)).asReadOnly();
    }

    /**
     * The step, where the kernel takes the convolution and is thought faster than the other on tensor cores.
     *
     * @param mends whether results are to be made again whose weights are not finite
     * @param passed takes the reason where it is not
     * @return null where it is not taken
     */
    static @Nullable GpuStep step(
            ConvGeometry geometry,
            ConvOperands operands,
            boolean mends,
            GpuLoweringContext context,
            List<String> passed) {
        String refusal = refusal(geometry, operands, context);
        if (refusal.isEmpty()) {
            WarpgroupTiles tiles = tiles(geometry, operands.dtype(), context);
            double other = MmaConv.microseconds(geometry, operands, context);
            double own = tiles.microseconds(context.kernels().context().device())
                    + (geometry.last() ? 0 : ConvPack.Both.microseconds(geometry, operands.dtype()));
            if (own <= other || context.convolutions().isWarpgroups()) {
                PreparedLaunch mend = mends ? ConvMend.of(geometry, operands, operands.epilogue(), context) : null;
                return new WarpgroupConv(geometry, operands, tiles, mend, context, passed);
            }
            refusal = Micros.text(own) + " us by the model, conv_mma " + Micros.text(other);
        }
        passed.add("3 implicit gemm, warpgroups: " + refusal);
        return null;
    }

    private static String refusal(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        DType dtype = operands.dtype();
        if (context.convolutions() == ConvForm.NO_WARPGROUPS) {
            return "TENON_CONV_WGMMA is 0";
        }
        if (context.kernels().context().device().architecture().number() != CAPABILITY) {
            return "compute capability " + context.kernels().context().device().architecture() + " is not 9.0";
        }
        if (!context.kernels().compilesSpecific()) {
            return "no compiler for sm_90a";
        }
        if (dtype == DType.F64 || (dtype == DType.F32 && context.precision() == Precision.STRICT)) {
            return "it takes f16, bf16 and TF32, not " + dtype;
        }
        if (geometry.transposed() || geometry.groups() > 1 || geometry.axes().size() != DIMS) {
            return "it takes one group, and planes";
        }
        if (!geometry.last() && dtype != DType.F32) {
            return "it writes " + dtype + " with channels innermost alone";
        }
        if (dtype.bytesFor(geometry.channels()) % CHUNK != 0 || dtype.bytesFor(geometry.outputs()) % CHUNK != 0) {
            return geometry.channels() + " channels or " + geometry.outputs() + " outputs are not whole chunks of "
                    + CHUNK + " bytes";
        }
        Unary function = operands.epilogue().activation();
        if (function != null && !FUNCTIONS.contains(function.fn())) {
            return function.fn().word() + " is none of its functions";
        }
        return sizes(geometry);
    }

    private static String sizes(ConvGeometry geometry) {
        for (ConvGeometry.Axis axis : geometry.axes()) {
            long span = SizeMath.estimate(axis.kernel() - 1, axis.dilation());
            if (axis.stride() > WindowMap.LARGEST_STEP
                    || axis.before() > WindowMap.FARTHEST
                    || span > WindowMap.FARTHEST
                    || Math.abs(behind(axis)) > WindowMap.FARTHEST) {
                return "windows reach further than " + WindowMap.FARTHEST + " elements, or are "
                        + WindowMap.LARGEST_STEP + " apart";
            }
        }
        long rows = SizeMath.estimate(geometry.batch(), geometry.positions());
        long largest = Math.max(rows, SizeMath.estimate(geometry.batch(), geometry.area()));
        return largest > Integer.MAX_VALUE / WarpgroupTiles.ROWS || geometry.outputs() > Integer.MAX_VALUE / 2
                ? "places are counted in 32 bits"
                : "";
    }

    /** Where an axis' last window begins, from its last element on; windows past the result's are left out. */
    private static long behind(ConvGeometry.Axis axis) {
        return (axis.output() - 1) * axis.stride() - axis.before() - (axis.input() - 1);
    }

    private static long lines(ConvGeometry geometry, DType dtype) {
        return Math.ceilDiv(dtype.bytesFor(geometry.channels()), (long) WarpgroupTiles.LINE);
    }

    private static WarpgroupTiles tiles(ConvGeometry geometry, DType dtype, GpuLoweringContext context) {
        long rows = SizeMath.product("conv", geometry.batch(), geometry.positions());
        long steps = SizeMath.product("conv", geometry.cells(), lines(geometry, dtype));
        WarpgroupTiles.Sizes sizes = new WarpgroupTiles.Sizes(rows, geometry.outputs(), steps);
        return context.shared(
                sizes,
                WarpgroupTiles.class,
                () -> WarpgroupTiles.of(
                        sizes,
                        context.convolutions(),
                        context.kernels().context().device()));
    }

    /** The struct ConvWindows of conv_wgmma.cu. */
    private static long[] words(ConvGeometry geometry, DType dtype, WarpgroupTiles tiles) {
        ConvGeometry.Axis high = geometry.axes().getFirst();
        ConvGeometry.Axis wide = geometry.axes().getLast();
        return new long[] {
            SizeMath.product("conv", geometry.batch(), geometry.positions()),
            geometry.outputs(),
            high.output(),
            wide.output(),
            lines(geometry, dtype),
            high.kernel(),
            wide.kernel(),
            high.stride(),
            wide.stride(),
            high.before(),
            wide.before(),
            high.dilation(),
            wide.dilation(),
            tiles.parts(),
            geometry.last() ? 0 : geometry.positions()
        };
    }

    @Override
    public void enqueue(GpuFrame frame) {
        long x = frame.at(operands.x());
        long w = frame.at(operands.w());
        if (packed != null) {
            packed.enqueue(frame);
            x = frame.workspace() + packed.x();
            w = frame.workspace() + packed.w();
        }
        Maps maps = maps(x, w);
        Unary function = operands.epilogue().activation();
        KernelArguments arguments = frame.arguments()
                .clear()
                .add(maps.windows, TensorMap.ALIGNMENT)
                .add(maps.weights, TensorMap.ALIGNMENT)
                .add(operands.bias() < 0 ? 0 : frame.at(operands.bias()))
                .add(operands.residual() < 0 ? 0 : frame.at(operands.residual()))
                .add(frame.at(operands.y()))
                .add(sizes, Long.BYTES);
        if (tiles.form().keeping()) {
            arguments.add(tiles.stages());
        }
        arguments
                .add(operands.function())
                .add(function == null ? 0.0f : (float) function.alpha())
                .add(function == null ? 0.0f : (float) function.beta());
        frame.stream().launch(kernel.function(), launch, arguments);
        if (mend != null) {
            mend.enqueue(frame);
        }
    }

    private Maps maps(long x, long w) {
        Maps found = last;
        if (found == null || found.x != x || found.w != w) {
            found = new Maps(x, w, device.encode(windows(x)), device.encode(weights(w)));
            last = found;
        }
        return found;
    }

    private WindowMap windows(long address) {
        ConvGeometry.Axis high = geometry.axes().getFirst();
        ConvGeometry.Axis wide = geometry.axes().getLast();
        long pixel = operands.dtype().bytesFor(geometry.channels());
        return new WindowMap(
                element(),
                address,
                List.of(geometry.channels(), wide.input(), high.input(), geometry.batch()),
                List.of(pixel, pixel * wide.input(), pixel * wide.input() * high.input()),
                List.of((int) wide.before(), (int) high.before()),
                List.of((int) behind(wide), (int) behind(high)),
                List.of((int) wide.stride(), (int) high.stride()),
                WarpgroupTiles.LINE / operands.dtype().bytes(),
                WarpgroupTiles.ROWS,
                TensorMap.Swizzle.BYTES_128);
    }

    private TensorMap weights(long address) {
        long cell = operands.dtype().bytesFor(geometry.channels());
        return new TensorMap(
                element(),
                address,
                List.of(geometry.channels(), geometry.cells(), geometry.outputs()),
                List.of(cell, cell * geometry.cells()),
                List.of(
                        WarpgroupTiles.LINE / operands.dtype().bytes(),
                        1,
                        tiles.form().columns()),
                TensorMap.Swizzle.BYTES_128);
    }

    private TensorMap.Element element() {
        return switch (operands.dtype()) {
            case F16 -> TensorMap.Element.F16;
            case BF16 -> TensorMap.Element.BF16;
            default -> TensorMap.Element.TF32;
        };
    }

    @Override
    public String tier() {
        return "3 implicit gemm: " + tiles.text() + ", "
                + (operands.dtype() == DType.F32 ? "TF32" : operands.dtype())
                + (packed == null ? ", channels last" : ", behind conv_pack") + operands.words()
                + (mend == null ? "" : ", then conv_mend");
    }

    @Override
    public long workspaceBytes() {
        return packed == null ? 0 : packed.bytes();
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }
}
