package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.dnn.DnnAsked;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.Micros;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.tuning.Rival;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Convolutions and transposed convolutions. Thread-safe. */
public final class GpuConvLowering {
    /** Output channels that one thread of the plain form may take. */
    private static final long TOGETHER = 8;

    /** Threads that fill a multiprocessor. */
    private static final long THREADS_A_MULTIPROCESSOR = 1024;

    private GpuConvLowering() {}

    /** The step of a convolution of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(Conv op, Node node, GpuLoweringContext context) {
        return lower(ConvGeometry.of(op, node), op.epilogue(), node, context);
    }

    /** The step of a transposed convolution of concrete sizes, or why no kernel takes it. */
    public static Lowered lower(ConvTranspose op, Node node, GpuLoweringContext context) {
        return lower(ConvGeometry.of(op, node), op.epilogue(), node, context);
    }

    /** The step of a convolution whose channels lie innermost, of concrete sizes. */
    public static Lowered lower(ChannelsLastConv op, Node node, GpuLoweringContext context) {
        return lower(ConvGeometry.of(op, node), op.conv().epilogue(), node, context);
    }

    /**
     * Whether convolutions with their channels innermost are run as they are: where tensor cores take them, and read x
     * and w in whole chunks or one chunk per cell; and of few or single channels where there is a kernel.
     */
    public static boolean claims(ChannelsLastConv op, Node node, Precision precision) {
        DType dtype = node.input(0).dtype();
        if (dtype == DType.F64 || (dtype == DType.F32 && precision == Precision.STRICT)) {
            return false;
        }
        for (Value input : node.inputs()) {
            if (!input.shape().isConcrete()) {
                return false;
            }
        }
        ConvGeometry geometry = ConvGeometry.of(op, node);
        return (MmaConv.takesLast(geometry, dtype)
                        && MmaConv.refusal(geometry, dtype).isEmpty())
                || DepthwiseLastConv.refusal(geometry, dtype).isEmpty()
                || FewChannelsConv.refusal(geometry, dtype).isEmpty();
    }

    private static Lowered lower(ConvGeometry geometry, Epilogue epilogue, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(node.op().mnemonic());
        }
        if (geometry.axes().size() > ConvGeometry.MOST_DIMS) {
            return new NoKernel("kernels convolve at most " + ConvGeometry.MOST_DIMS + " spatial dims of more than one "
                    + "element; x is " + node.input(0).shape());
        }
        ConvOperands operands = ConvOperands.of(epilogue, node, context);
        List<String> passed = new ArrayList<>();
        boolean depthwise = isDepthwise(geometry, operands.dtype());
        String unasked = unasked(depthwise, context);
        boolean mends = ConvMend.needed(geometry, node.input(1));
        if (!unasked.isEmpty()) {
            passed.add("1 fused, 2 cudnn: " + unasked);
        } else {
            GpuStep library = DnnConv.step(
                    geometry,
                    operands,
                    node,
                    mends,
                    context,
                    () -> rival(geometry, operands, context),
                    () -> tiled(geometry, operands, mends, context, new ArrayList<>()),
                    passed);
            if (library != null) {
                return library;
            }
        }
        GpuStep tiled = tiled(geometry, operands, mends, context, passed);
        if (tiled != null) {
            return tiled;
        }
        LaunchStep step = depthwise
                ? depthwise(geometry, operands, node.input(1), context, passed)
                : direct(geometry, operands, context);
        return step.passing(passed);
    }

    private static boolean isDepthwise(ConvGeometry geometry, DType dtype) {
        return geometry.last()
                ? DepthwiseLastConv.refusal(geometry, dtype).isEmpty()
                : DepthwiseConv.refusal(geometry).isEmpty();
    }

    /** Why the library is not asked; empty where it is. */
    private static String unasked(boolean depthwise, GpuLoweringContext context) {
        if (depthwise) {
            return "single channels are not products";
        }
        if (context.convolutions().isWarpgroups()) {
            return "warpgroups are asked for";
        }
        return context.convolutions().isFewChannels() ? "a kernel for few channels is asked for" : "";
    }

    /**
     * What cuDNN will be asked first when a node is lowered; empty where it is no convolution, or nothing is asked.
     * What cuDNN is asked when it refuses that is not foreseen.
     */
    public static Optional<DnnAsked> asked(Node node, GpuLoweringContext context) {
        return switch (node.op()) {
            case Conv op -> asked(ConvGeometry.of(op, node), op.epilogue(), node, context);
            case ConvTranspose op -> asked(ConvGeometry.of(op, node), op.epilogue(), node, context);
            case ChannelsLastConv op ->
                asked(ConvGeometry.of(op, node), op.conv().epilogue(), node, context);
            default -> Optional.empty();
        };
    }

    private static Optional<DnnAsked> asked(
            ConvGeometry geometry, Epilogue epilogue, Node node, GpuLoweringContext context) {
        ConvOperands operands = ConvOperands.apart(epilogue, node.output().dtype());
        boolean none = node.output().shape().elements() == 0
                || geometry.axes().size() > ConvGeometry.MOST_DIMS
                || !unasked(isDepthwise(geometry, operands.dtype()), context).isEmpty();
        return none
                ? Optional.empty()
                : DnnConv.asked(geometry, operands, node, context, () -> rival(geometry, operands, context));
    }

    /**
     * The faster by the model of the kernels that make tiles of results.
     *
     * @param mends whether results may have to be made again whose weights are not finite
     * @param passed takes the reasons for those before it
     * @return null where none takes the convolution
     */
    private static @Nullable GpuStep tiled(
            ConvGeometry geometry,
            ConvOperands operands,
            boolean mends,
            GpuLoweringContext context,
            List<String> passed) {
        FewChannelsConv few = FewChannelsConv.of(geometry, operands, context).orElse(null);
        String refusal = MmaConv.refusal(geometry, operands.dtype(), context);
        if (few != null && context.convolutions().isFewChannels()) {
            refusal = few.entry() + " is asked for";
        } else if (refusal.isEmpty() && few != null) {
            double tensors = MmaConv.microseconds(geometry, operands, context);
            refusal = few.microseconds() < tensors
                    ? Micros.text(tensors) + " us by the model, " + few.entry() + " " + Micros.text(few.microseconds())
                    : "";
        }
        if (refusal.isEmpty()) {
            GpuStep warpgroups = WarpgroupConv.step(geometry, operands, mends, context, passed);
            return warpgroups != null ? warpgroups : new MmaConv(geometry, operands, context).step(passed);
        }
        passed.add("3 implicit gemm: " + refusal);
        return few == null ? null : few.step(mends, context, passed);
    }

    /** What is timed beside the library, on finite weights; null where nothing is. */
    private static @Nullable Rival rival(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        if (!MmaConv.refusal(geometry, operands.dtype(), context).isEmpty()
                && FewChannelsConv.of(geometry, operands, context).isEmpty()) {
            return null;
        }
        ConvOperands own = ConvOperands.apart(operands.epilogue(), operands.dtype());
        DType dtype = operands.dtype();
        long outputs = SizeMath.product("conv", geometry.groups(), geometry.outputs());
        long result = dtype.bytesFor(SizeMath.product("conv", geometry.batch(), geometry.positions(), outputs));
        List<Long> bytes = List.of(
                dtype.bytesFor(SizeMath.product(
                        "conv", geometry.batch(), geometry.area(), geometry.groups(), geometry.channels())),
                dtype.bytesFor(SizeMath.product("conv", outputs, geometry.channels(), geometry.cells())),
                dtype.bytesFor(outputs),
                result,
                result);
        return context.rival(bytes, with -> tiled(geometry, own, false, with, new ArrayList<>()));
    }

    private static LaunchStep depthwise(
            ConvGeometry geometry,
            ConvOperands operands,
            Value weights,
            GpuLoweringContext context,
            List<String> passed) {
        if (!geometry.last()) {
            return DepthwiseConv.step(geometry, operands, context);
        }
        DeviceProperties device = context.kernels().context().device();
        String refusal = DepthwiseStripConv.refusal(geometry, operands.dtype(), weights, device);
        if (refusal.isEmpty()) {
            return DepthwiseStripConv.step(geometry, operands, context);
        }
        passed.add("4 direct, strips: " + refusal);
        return DepthwiseLastConv.step(geometry, operands, context);
    }

    private static LaunchStep direct(ConvGeometry geometry, ConvOperands operands, GpuLoweringContext context) {
        long planes = SizeMath.product("conv", geometry.batch(), geometry.groups(), geometry.positions());
        long pieces = SizeMath.product("conv", planes, Math.ceilDiv(geometry.outputs(), TOGETHER));
        int dims = geometry.axes().size();
        int multiprocessors = context.kernels().context().device().multiprocessors();
        boolean together =
                dims <= 3 && geometry.outputs() >= TOGETHER / 2 && pieces >= THREADS_A_MULTIPROCESSOR * multiprocessors;
        String name = geometry.transposed() ? "conv_transpose" : "conv";
        String entry = name + (dims <= 3 ? dims + "d" : "") + (together ? "_" + TOGETHER : "");
        KernelFile file = geometry.transposed() ? WindowCatalog.CONV_TRANSPOSE : WindowCatalog.CONV;
        PreparedLaunch.Builder launch = operands.launch(
                        context.kernels().kernel(file, entry, KernelVariant.of(operands.dtype())),
                        Grids.of(together ? pieces : SizeMath.product("conv", planes, geometry.outputs())))
                .struct(geometry.words());
        return LaunchStep.of(
                "4 direct: " + entry + ", " + operands.dtype() + operands.words(),
                operands.activation(launch).build());
    }
}
