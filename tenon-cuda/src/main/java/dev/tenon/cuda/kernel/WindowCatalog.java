package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.FLOATS;
import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.floats;
import static dev.tenon.cuda.kernel.file.KernelFiles.together;
import static dev.tenon.cuda.kernel.file.KernelFiles.typed;
import static dev.tenon.cuda.kernel.file.KernelFiles.widths;
import static dev.tenon.cuda.kernel.file.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.file.ParameterType.F32;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.ParameterType;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** The kernel files of windows, images and signals, and what their steps launch with. */
public final class WindowCatalog {
    public static final KernelFile POOL = file(
            "window/pool.cu",
            List.of("pool1d", "pool2d", "pool3d", "pool", "pool_wide"),
            typed(),
            List.of(POINTER, POINTER, POINTER, STRUCT, STRUCT));

    public static final KernelFile RESIZE = new KernelFile(
            "window/resize.cu",
            List.of(
                    new KernelSpec("window/resize.cu", "resize_taps", List.of(POINTER, STRUCT)),
                    new KernelSpec(
                            "window/resize.cu",
                            "resize",
                            List.of(POINTER, POINTER, POINTER, I64, STRUCT, STRUCT, I32, COMPUTE)),
                    new KernelSpec(
                            "window/resize.cu",
                            "resize_axis",
                            List.of(POINTER, POINTER, POINTER, I64, I64, STRUCT, I32, I32, I32, I32, COMPUTE))),
            typed());

    public static final KernelFile RESIZE_NEAREST = new KernelFile(
            "window/resize_nearest.cu",
            List.of(
                    new KernelSpec("window/resize_nearest.cu", "resize_places", List.of(POINTER, STRUCT)),
                    new KernelSpec(
                            "window/resize_nearest.cu",
                            "resize_nearest",
                            List.of(POINTER, POINTER, POINTER, I64, STRUCT, STRUCT, I64))),
            widths(16));

    public static final KernelFile GRID_SAMPLE = file(
            "window/grid_sample.cu",
            List.of("grid_sample1d", "grid_sample2d", "grid_sample3d", "grid_sample"),
            floats(),
            List.of(POINTER, POINTER, POINTER, STRUCT));

    public static final KernelFile ROI = new KernelFile(
            "window/roi.cu",
            List.of(
                    new KernelSpec(
                            "window/roi.cu",
                            "roi_align",
                            List.of(POINTER, POINTER, POINTER, POINTER, STRUCT, POINTER, I32)),
                    new KernelSpec(
                            "window/roi.cu", "max_roi_pool", List.of(POINTER, POINTER, POINTER, STRUCT, POINTER, I32))),
            floats());

    public static final KernelFile DEFORM_COLUMNS = file(
            "window/deform_columns.cu",
            List.of("deform_columns"),
            floats(),
            List.of(POINTER, POINTER, POINTER, POINTER, STRUCT));

    public static final KernelFile INSTANCE_NORM = new KernelFile(
            "norm/instance_norm.cu",
            List.of(
                    new KernelSpec(
                            "norm/instance_norm.cu",
                            "instance_norm",
                            List.of(POINTER, POINTER, POINTER, POINTER, I64, I64, I64, COMPUTE)),
                    new KernelSpec(
                            "norm/instance_norm.cu", "instance_norm_parts", List.of(POINTER, POINTER, I64, I64, I64)),
                    new KernelSpec(
                            "norm/instance_norm.cu",
                            "instance_norm_apply",
                            List.of(POINTER, POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64, COMPUTE))),
            floats());

    /** Norms of groups of channels, which lie innermost. */
    public static final KernelFile CHANNEL_NORM_LAST = new KernelFile(
            "norm/channel_norm_last.cu",
            List.of(
                    new KernelSpec(
                            "norm/channel_norm_last.cu",
                            "channel_norm_sums",
                            List.of(POINTER, POINTER, I64, I64, I64, I64, I64, I32)),
                    new KernelSpec(
                            "norm/channel_norm_last.cu",
                            "channel_norm_scales",
                            List.of(POINTER, POINTER, I64, I64, I64, I64, I64, F32)),
                    new KernelSpec(
                            "norm/channel_norm_last.cu",
                            "channel_norm_apply",
                            List.of(POINTER, POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64))),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList());

    public static final KernelFile LOCAL_RESPONSE_NORM = file(
            "norm/local_response_norm.cu",
            List.of("local_response_norm"),
            floats(),
            List.of(POINTER, POINTER, I64, I64, I64, I64, COMPUTE, COMPUTE, COMPUTE));

    public static final KernelFile ROPE = file(
            "attention/rope.cu",
            List.of("rope", "rope_v"),
            Stream.concat(
                            FLOATS.stream().map(dtype -> rope(dtype, dtype)),
                            Stream.of(rope(DType.F16, DType.F32), rope(DType.BF16, DType.F32)))
                    .toList(),
            List.of(POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64, I64, I32, STRUCT));

    public static final KernelFile DFT = new KernelFile(
            "signal/dft.cu",
            List.of(
                    dft("dft_tables", POINTER, I64, I32),
                    dft("dft_block", POINTER, POINTER, POINTER, STRUCT),
                    dft("dft_load", POINTER, POINTER, STRUCT),
                    dft("dft_store", POINTER, POINTER, STRUCT),
                    dft("dft_pass", POINTER, POINTER, POINTER, I64, I64, I64, I32),
                    dft("dft_chirp_load", POINTER, POINTER, POINTER, I64, STRUCT),
                    dft("dft_chirp_multiply", POINTER, I64, I64),
                    dft("dft_chirp_store", POINTER, POINTER, POINTER, I64, STRUCT)),
            floats());

    public static final KernelFile CONV_INTEGER = file(
            "window/conv_integer.cu",
            List.of("conv_integer"),
            List.of(KernelCatalog.BYTES),
            List.of(POINTER, POINTER, POINTER, POINTER, POINTER, STRUCT));

    /** Convolutions in their plain form. */
    public static final KernelFile CONV = convolution("conv");

    /** Transposed convolutions in their plain form. */
    public static final KernelFile CONV_TRANSPOSE = convolution("conv_transpose");

    /** Convolutions of each channel by itself. */
    public static final KernelFile CONV_DEPTHWISE = file(
            "convolution/conv_depthwise.cu",
            List.of("conv_depthwise_k3s1", "conv_depthwise_k3s2", "conv_depthwise_k5s1", "conv_depthwise_k5s2"),
            floats(),
            together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, COMPUTE, COMPUTE)));

    /** Maxima and averages of windows over two dims, channels innermost. */
    public static final KernelFile POOL_LAST =
            file("window/pool_last.cu", List.of("pool_last"), shortFloats(), List.of(POINTER, POINTER, STRUCT, I32));

    /** Reductions of a middle dim whose results are few. */
    public static final KernelFile REDUCE_MIDDLE = file(
            "reduce/reduce_middle.cu",
            List.of("reduce_middle"),
            shortFloats(),
            together(List.of(POINTER, POINTER), Collections.nCopies(3, I64), List.of(I32, I32)));

    /** Depthwise convolutions with channels innermost. */
    public static final KernelFile CONV_DEPTHWISE_LAST = file(
            "convolution/conv_depthwise_last.cu",
            List.of(
                    "conv_depthwise_last",
                    "conv_depthwise_last_k3s1",
                    "conv_depthwise_last_k3s2",
                    "conv_depthwise_last_k5s1",
                    "conv_depthwise_last_k5s2",
                    "conv_depthwise_last_k7s1",
                    "conv_depthwise_last_k3s1_1",
                    "conv_depthwise_last_k3s2_1",
                    "conv_depthwise_last_k5s1_1",
                    "conv_depthwise_last_k5s2_1",
                    "conv_depthwise_last_k7s1_1"),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, COMPUTE, COMPUTE)));

    /** The same of usual windows and finite weights, whose cells pass through shared memory. */
    public static final KernelFile CONV_DEPTHWISE_STRIP = file(
            "convolution/conv_depthwise_strip.cu",
            List.of(
                    "conv_depthwise_strip_k7s1",
                    "conv_depthwise_strip_k5s1",
                    "conv_depthwise_strip_k5s2",
                    "conv_depthwise_strip_k3s1",
                    "conv_depthwise_strip_k3s2"),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, COMPUTE, COMPUTE)));

    /** Convolutions of few channels. */
    public static final KernelFile CONV_FEW_CHANNELS = file(
            "convolution/conv_few_channels.cu",
            List.of("conv_few_channels_8", "conv_few_channels_4"),
            shortFloats(),
            together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, F32, F32)));

    /** The same on tensor cores, in 16 bits or TF32. */
    public static final KernelFile CONV_FEW_CHANNELS_MMA = file(
            "convolution/conv_few_channels_mma.cu",
            List.of("conv_few_channels_mma_64x32", "conv_few_channels_mma_32x32", "conv_few_channels_mma_32x64"),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, F32, F32, I32, I32)));

    /** What a library's convolution still lacks. */
    public static final KernelFile CONV_FINISH = file(
            "convolution/conv_finish.cu",
            List.of("conv_finish", "conv_finish_vw"),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(Collections.nCopies(3, POINTER), Collections.nCopies(3, I64), List.of(I32, COMPUTE, COMPUTE)));

    /** What brings channels side by side. */
    public static final KernelFile CONV_PACK = file(
            "convolution/conv_pack.cu",
            List.of("conv_pack", "conv_pack_wide", "conv_pack_few", "conv_pack_chunk"),
            Stream.of(2, 4).map(WindowCatalog::packed).toList(),
            together(List.of(POINTER, POINTER), Collections.nCopies(5, I64)));

    /** Convolutions on tensor cores. */
    public static final KernelFile CONV_MMA = file(
            "convolution/conv_mma.cu",
            List.of("conv_mma_128x128", "conv_mma_128x64", "conv_mma_64x64", "conv_mma_128x32"),
            Stream.of(DType.F32, DType.F16, DType.BF16)
                    .map(WindowCatalog::tensorCores)
                    .toList(),
            together(Collections.nCopies(7, POINTER), List.of(STRUCT, I32, F32, F32)));

    /** The same by warpgroups, channels innermost. */
    public static final KernelFile CONV_WGMMA = file(
            "convolution/conv_wgmma.cu",
            List.of("conv_wgmma_128x64", "conv_wgmma_128x128", "conv_wgmma_128x256"),
            Stream.of(DType.F32, DType.F16, DType.BF16)
                    .map(WindowCatalog::warpgroups)
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, POINTER, STRUCT, I32, F32, F32));

    /** The same with all weights of a block's output channels in its shared memory. */
    public static final KernelFile CONV_WGMMA_KEPT = file(
            "convolution/conv_wgmma_kept.cu",
            List.of("conv_wgmma_kept_64", "conv_wgmma_kept_128"),
            CONV_WGMMA.variants(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, POINTER, STRUCT, I32, I32, F32, F32));

    private WindowCatalog() {}

    /** The variant of {@link #CONV_WGMMA} and {@link #CONV_WGMMA_KEPT} for f32, f16 or bf16. */
    public static KernelVariant warpgroups(DType dtype) {
        return KernelVariant.of(dtype).with("", KernelVariant.SPECIFIC);
    }

    /** The variant of {@link #CONV_PACK} for elements of 2 or 4 bytes. */
    public static KernelVariant packed(int bytes) {
        return KernelFiles.width(bytes);
    }

    /** The variant of {@link #CONV_MMA} for f32, f16 or bf16. */
    public static KernelVariant tensorCores(DType dtype) {
        return KernelVariant.of(dtype).with("", "TENON_F16=" + (dtype == DType.F16 ? 1 : 0));
    }

    private static KernelSpec dft(String entry, ParameterType... parameters) {
        return new KernelSpec("signal/dft.cu", entry, List.of(parameters));
    }

    private static List<KernelVariant> shortFloats() {
        return Stream.of(DType.F32, DType.F16, DType.BF16)
                .map(KernelVariant::of)
                .toList();
    }

    private static KernelFile convolution(String name) {
        return file(
                "convolution/" + name + ".cu",
                Stream.of("2d", "2d_8", "3d", "3d_8", "", "_mend")
                        .map(form -> name + form)
                        .toList(),
                floats(),
                together(Collections.nCopies(5, POINTER), List.of(STRUCT, I32, COMPUTE, COMPUTE)));
    }

    /** The variant of {@link #ROPE} for elements of a type and angles of it, or of f32 where it is shorter. */
    public static KernelVariant rope(DType dtype, DType angles) {
        return angles == dtype
                ? KernelVariant.of(dtype).with("", "TENON_ANGLE=TENON_T")
                : KernelVariant.of(dtype).with("wide", "TENON_ANGLE=float");
    }

    static List<KernelFile> all() {
        return List.of(
                POOL,
                POOL_LAST,
                REDUCE_MIDDLE,
                RESIZE,
                RESIZE_NEAREST,
                GRID_SAMPLE,
                ROI,
                DEFORM_COLUMNS,
                INSTANCE_NORM,
                CHANNEL_NORM_LAST,
                LOCAL_RESPONSE_NORM,
                ROPE,
                DFT,
                CONV_INTEGER,
                CONV,
                CONV_TRANSPOSE,
                CONV_DEPTHWISE,
                CONV_DEPTHWISE_LAST,
                CONV_DEPTHWISE_STRIP,
                CONV_FEW_CHANNELS,
                CONV_FEW_CHANNELS_MMA,
                CONV_FINISH,
                CONV_PACK,
                CONV_MMA,
                CONV_WGMMA,
                CONV_WGMMA_KEPT);
    }
}
