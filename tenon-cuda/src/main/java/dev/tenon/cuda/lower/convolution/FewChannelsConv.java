package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.KernelVariant;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * Convolutions of 1 to 4 channels, as vision networks begin with: plain products in f32, whose cells and weights come
 * from shared memory. Channels lie innermost or not.
 */
final class FewChannelsConv {
    private static final int DIMS = 2;
    private static final long MOST_CHANNELS = 4;
    /** Places along an axis are counted in 32 bits. */
    private static final long LARGE = 1L << 30;

    private final ConvGeometry geometry;
    private final ConvOperands operands;
    private final FewChannelsTiles tiles;
    private final int multiprocessors;

    private FewChannelsConv(ConvGeometry geometry, ConvOperands operands, FewChannelsTiles tiles, int multiprocessors) {
        this.geometry = geometry;
        this.operands = operands;
        this.tiles = tiles;
        this.multiprocessors = multiprocessors;
    }

    /** Why the kernel does not take a convolution; empty where it does. */
    static String refusal(ConvGeometry geometry, DType dtype) {
        if (dtype == DType.F64) {
            return "it takes f32, f16 and bf16, not f64";
        }
        if (geometry.transposed() || geometry.groups() > 1 || geometry.axes().size() != DIMS) {
            return "it takes one group, and planes";
        }
        if (geometry.channels() < 1 || geometry.channels() > MOST_CHANNELS) {
            return geometry.channels() + " channels are not 1 to " + MOST_CHANNELS;
        }
        if (geometry.outputs() % FewChannelsTiles.OUTPUTS != 0) {
            return geometry.outputs() + " outputs are no multiple of " + FewChannelsTiles.OUTPUTS
                    + ", of which a thread makes as many";
        }
        boolean far = geometry.axes().stream()
                .anyMatch(axis -> axis.input() >= LARGE
                        || axis.before() >= LARGE
                        || SizeMath.estimate(axis.output(), axis.stride()) >= LARGE);
        return far
                ? "places are counted in 32 bits"
                : FewChannelsTiles.of(geometry, 1)
                        .map(FewChannelsConv::grid)
                        .orElse("weights and cells of a tile are more than 48 KiB of shared memory");
    }

    private static String grid(FewChannelsTiles tiles) {
        return tiles.tiles() > Integer.MAX_VALUE || tiles.parts() > GridLimits.YZ
                ? tiles.tiles() + " tiles by " + tiles.parts() + " parts are more than a grid"
                : "";
    }

    /** The convolution as the kernel makes it; empty where it does not take it. */
    static Optional<FewChannelsConv> of(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        int multiprocessors = context.kernels().context().device().multiprocessors();
        return refusal(geometry, operands.dtype()).isEmpty()
                ? FewChannelsTiles.of(geometry, multiprocessors)
                        .map(tiles -> new FewChannelsConv(geometry, operands, tiles, multiprocessors))
                : Optional.empty();
    }

    /** By the model. */
    double microseconds() {
        long depth = SizeMath.product("conv", geometry.cells(), geometry.channels());
        return tiles.microseconds(depth, multiprocessors);
    }

    /** @param mends whether results are to be made again whose weights are not finite */
    GpuStep step(boolean mends, GpuLoweringContext context, List<String> passedOver) {
        LaunchShape shape = LaunchShape.of((int) tiles.tiles(), (int) tiles.parts(), 1, tiles.threads())
                .withSharedBytes((int) tiles.sharedBytes())
                .withProgrammatic();
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels()
                                .kernel(
                                        WindowCatalog.CONV_FEW_CHANNELS,
                                        tiles.form().entry(),
                                        KernelVariant.of(operands.dtype())),
                        shape)
                .struct(words());
        List<LaunchStep.Work> works =
                new ArrayList<>(List.of(operands.activation(launch).build()));
        if (mends) {
            works.add(ConvMend.of(geometry, operands, operands.epilogue(), context));
        }
        String tier = "4 direct: " + tiles.text() + ", " + operands.dtype() + (geometry.last() ? ", channels last" : "")
                + operands.words() + (mends ? ", then conv_mend" : "");
        return LaunchStep.of(tier, works, 0).passing(passedOver);
    }

    /** The struct FewChannelsSizes of conv_few_channels.cu. */
    private long[] words() {
        long channels = geometry.channels();
        long outputs = geometry.outputs();
        long depth = SizeMath.product("conv", geometry.cells(), channels);
        boolean last = geometry.last();
        LongStream words = LongStream.of(
                channels,
                outputs,
                SizeMath.product("conv", geometry.area(), channels),
                last ? channels : 1,
                last ? 1 : geometry.area(),
                depth,
                last ? channels : 1,
                last ? 1 : geometry.cells(),
                SizeMath.product("conv", geometry.positions(), outputs),
                last ? outputs : 1,
                last ? 1 : geometry.positions());
        List<ToLongFunction<ConvGeometry.Axis>> pairs = List.of(
                ConvGeometry.Axis::input,
                ConvGeometry.Axis::output,
                ConvGeometry.Axis::kernel,
                ConvGeometry.Axis::stride,
                ConvGeometry.Axis::before,
                ConvGeometry.Axis::dilation);
        for (ToLongFunction<ConvGeometry.Axis> field : pairs) {
            words = LongStream.concat(words, geometry.axes().stream().mapToLong(field));
        }
        return LongStream.concat(words, tiles.words()).toArray();
    }
}
