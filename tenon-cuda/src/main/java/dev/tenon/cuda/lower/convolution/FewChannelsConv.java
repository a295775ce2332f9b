package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.ConvForm;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * Convolutions of 1 to 4 channels, as vision networks begin with, whose cells and weights come from shared memory:
 * plain products in f32, or those of tensor cores in 16 bits or TF32. Channels lie innermost or not.
 */
final class FewChannelsConv {
    private static final int DIMS = 2;
    private static final long MOST_CHANNELS = 4;
    /** Places along an axis are counted in 32 bits. */
    private static final long LARGE = 1L << 30;

    private final ConvGeometry geometry;
    private final ConvOperands operands;
    private final FewChannelsPlan plan;
    private final int multiprocessors;

    private FewChannelsConv(ConvGeometry geometry, ConvOperands operands, FewChannelsPlan plan, int multiprocessors) {
        this.geometry = geometry;
        this.operands = operands;
        this.plan = plan;
        this.multiprocessors = multiprocessors;
    }

    /** Why the plain kernel, which takes most, does not take a convolution; empty where it does. */
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

    /** The convolution as the faster kernel makes it, or the one that is asked for; empty where neither takes it. */
    static Optional<FewChannelsConv> of(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        DeviceProperties device = context.kernels().context().device();
        if (!refusal(geometry, operands.dtype()).isEmpty()) {
            return Optional.empty();
        }
        List<FewChannelsPlan> plans = new ArrayList<>();
        ConvForm asked = context.convolutions();
        DType dtype = operands.dtype();
        boolean rounds = dtype != DType.F32 || context.precision() == Precision.FAST;
        if (rounds
                && FewChannelsMmaTiles.refusal(geometry, dtype, device.architecture())
                        .isEmpty()) {
            FewChannelsMmaTiles.of(geometry, dtype, device.multiprocessors(), asked)
                    .ifPresent(plans::add);
        }
        if (plans.isEmpty() || !asked.isFewChannels()) {
            FewChannelsTiles.of(geometry, device.multiprocessors()).ifPresent(plans::add);
        }
        return plans.stream()
                .min(Comparator.comparingDouble(plan -> plan.microseconds(geometry, device.multiprocessors())))
                .map(plan -> new FewChannelsConv(geometry, operands, plan, device.multiprocessors()));
    }

    /** By the model. */
    double microseconds() {
        return plan.microseconds(geometry, multiprocessors);
    }

    String entry() {
        return plan.entry();
    }

    /** @param mends whether results are to be made again whose weights are not finite */
    GpuStep step(boolean mends, GpuLoweringContext context, List<String> passedOver) {
        LaunchShape shape = LaunchShape.of((int) plan.blocks(), (int) plan.parts(), 1, plan.threads())
                .withSharedBytes((int) plan.sharedBytes())
                .withProgrammatic();
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels().kernel(plan.file(), plan.entry(), KernelVariant.of(operands.dtype())), shape)
                .struct(words());
        List<LaunchStep.Work> works = new ArrayList<>(
                List.of(plan.rest(operands.activation(launch), geometry).build()));
        if (mends) {
            works.add(ConvMend.of(geometry, operands, operands.epilogue(), context));
        }
        String tier = "4 direct: " + plan.text(operands.dtype()) + (geometry.last() ? ", channels last" : "")
                + operands.words() + (mends ? ", then conv_mend" : "");
        return LaunchStep.of(tier, works, 0).passing(passedOver);
    }

    /** The struct FewChannelsSizes of few_channels.cuh. */
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
        return LongStream.concat(words, plan.words(geometry)).toArray();
    }
}
