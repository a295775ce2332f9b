package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.floats;
import static dev.tenon.cuda.kernel.file.KernelFiles.together;
import static dev.tenon.cuda.kernel.file.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.ParameterType;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The kernel files of quantised numbers, random numbers, states along sequences and packed weights. */
public final class StateCatalog {
    /** For what has one variant. */
    public static final KernelVariant PLAIN = new KernelVariant("", DType.U8, List.of());

    private static final List<ParameterType> SCALED =
            together(Collections.nCopies(4, POINTER), List.of(I32, I32, I64, I32, I32), Collections.nCopies(3, I64));

    public static final KernelFile QUANTIZE = new KernelFile(
            "quantisation/quantize.cu",
            List.of(
                    new KernelSpec("quantisation/quantize.cu", "quantize", SCALED),
                    new KernelSpec(
                            "quantisation/quantize.cu",
                            "dequantize",
                            together(
                                    Collections.nCopies(4, POINTER),
                                    List.of(I32, I64, I32, I32),
                                    Collections.nCopies(3, I64)))),
            floats());

    public static final KernelFile DYNAMIC_QUANTIZE = new KernelFile(
            "quantisation/dynamic_quantize.cu",
            List.of(
                    new KernelSpec(
                            "quantisation/dynamic_quantize.cu",
                            "dynamic_quantize_range",
                            List.of(POINTER, POINTER, I64)),
                    new KernelSpec(
                            "quantisation/dynamic_quantize.cu",
                            "dynamic_quantize",
                            together(Collections.nCopies(5, POINTER), List.of(I32, I64)))),
            List.of(KernelVariant.of(DType.F32)));

    public static final KernelFile MATMUL_INTEGER = new KernelFile(
            "contraction/matmul_integer.cu",
            List.of(
                    new KernelSpec(
                            "contraction/matmul_integer.cu",
                            "matmul_integer",
                            together(Collections.nCopies(5, POINTER), List.of(I32, I32), Collections.nCopies(15, I64))),
                    new KernelSpec("contraction/matmul_integer.cu", "matmul_integer_zero", List.of(POINTER, I64))),
            List.of(PLAIN));

    public static final KernelFile RANDOM = file(
            "random/random.cu",
            List.of("random"),
            floats(),
            together(List.of(POINTER, POINTER, I32), Collections.nCopies(4, I64)));

    public static final KernelFile SAMPLE = file(
            "random/sample.cu",
            List.of("sample"),
            floats(),
            together(Collections.nCopies(9, POINTER), List.of(I64, I64, POINTER, I32)));

    public static final KernelFile RECURRENT_INPUTS = file(
            "state/recurrent_inputs.cu",
            List.of("recurrent_inputs"),
            floats(),
            List.of(POINTER, POINTER, POINTER, I64, I64, I64));

    public static final KernelFile LSTM_TILE = file(
            "state/lstm_tile.cu",
            List.of("lstm_tile"),
            List.of(cell(2, DType.F32)),
            together(Collections.nCopies(12, POINTER), List.of(STRUCT, I64, I64)));

    public static final KernelFile RECURRENT = new KernelFile(
            "state/recurrent.cu",
            List.of(
                    new KernelSpec(
                            "state/recurrent.cu",
                            "recurrent",
                            together(Collections.nCopies(12, POINTER), List.of(STRUCT, I64, I64))),
                    new KernelSpec(
                            "state/recurrent.cu",
                            "recurrent_initial",
                            together(Collections.nCopies(4, POINTER), List.of(I64)))),
            KernelFiles.FLOATS.stream()
                    .flatMap(dtype -> Stream.of(cell(0, dtype), cell(1, dtype), cell(2, dtype)))
                    .toList());

    public static final KernelFile SELECTIVE_SCAN = file(
            "state/selective_scan.cu",
            List.of("selective_scan"),
            floats(),
            together(Collections.nCopies(9, POINTER), Collections.nCopies(4, I64), List.of(I32)));

    public static final KernelFile GATED_DELTA_NET = file(
            "state/gated_delta_net.cu",
            List.of("gated_delta_net"),
            floats(),
            together(Collections.nCopies(8, POINTER), Collections.nCopies(6, I64), List.of(COMPUTE, I32)));

    public static final KernelFile DEQUANT_MATMUL = new KernelFile(
            "contraction/dequant_matmul.cu",
            List.of(
                    new KernelSpec(
                            "contraction/dequant_matmul.cu",
                            "dequant_matmul",
                            List.of(POINTER, POINTER, POINTER, I64, I64, I64)),
                    new KernelSpec(
                            "contraction/dequant_matmul.cu",
                            "dequant_matmul_row",
                            List.of(POINTER, POINTER, POINTER, I64, I64, I64)),
                    new KernelSpec("contraction/dequant_matmul.cu", "decode_blocks", List.of(POINTER, POINTER, I64))),
            KernelFiles.FLOATS.stream()
                    .flatMap(dtype -> Stream.of(BlockFormat.values()).map(format -> packed(format, dtype)))
                    .toList());

    public static final KernelFile DEQUANT_GEMV = file(
            "contraction/dequant_gemv.cu",
            List.of("dequant_gemv"),
            Stream.of(DType.F32, DType.F16, DType.BF16)
                    .flatMap(dtype -> Stream.of(BlockFormat.values()).map(format -> packed(format, dtype)))
                    .toList(),
            List.of(POINTER, POINTER, POINTER, I64, I64, I32, I32, I32));

    public static final KernelFile DEQUANT_GEMV_MMA = file(
            "contraction/dequant_gemv_mma.cu",
            List.of("dequant_gemv_mma"),
            Stream.of(DType.F16, DType.BF16)
                    .flatMap(dtype ->
                            Stream.of(BlockFormat.Q4_0, BlockFormat.Q4_K).map(format -> packed(format, dtype)))
                    .toList(),
            List.of(POINTER, POINTER, POINTER, I64, I64, I32, I32));

    public static final KernelFile DEQUANT_MATMUL_MMA = file(
            "contraction/dequant_matmul_mma.cu",
            List.of("dequant_matmul_mma"),
            Stream.of(DType.F16, DType.BF16)
                    .flatMap(dtype -> Stream.of(BlockFormat.values()).map(format -> packed(format, dtype)))
                    .toList(),
            List.of(POINTER, POINTER, POINTER, I64, I64, I64));

    public static final KernelFile SCALED_MATMUL = file(
            "contraction/scaled_matmul.cu",
            List.of("scaled_matmul", "scaled_matmul_row"),
            floats(),
            together(Collections.nCopies(5, POINTER), Collections.nCopies(5, I64), List.of(I32, I32)));

    public static final KernelFile SCALED_GEMV = file(
            "contraction/scaled_gemv.cu",
            List.of("scaled_gemv"),
            Stream.of(DType.F32, DType.F16, DType.BF16)
                    .flatMap(dtype -> Stream.of(8, 4).map(bits -> scaled(bits, dtype)))
                    .toList(),
            together(Collections.nCopies(5, POINTER), Collections.nCopies(3, I64), Collections.nCopies(4, I32)));

    public static final KernelFile SCALED_MATMUL_MMA = file(
            "contraction/scaled_matmul_mma.cu",
            List.of("scaled_matmul_mma"),
            Stream.of(DType.F16, DType.BF16)
                    .flatMap(dtype ->
                            Stream.of(8, 4).flatMap(bits -> Stream.of(32, 16).map(run -> scaledRuns(bits, run, dtype))))
                    .toList(),
            together(Collections.nCopies(5, POINTER), Collections.nCopies(5, I64), List.of(I32)));

    /** {@link #SCALED_GEMV} on tensor cores, for 4 bits. */
    public static final KernelFile SCALED_GEMV_MMA = file(
            "contraction/scaled_gemv_mma.cu",
            List.of("scaled_gemv_mma"),
            Stream.of(DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(Collections.nCopies(4, POINTER), Collections.nCopies(3, I64), Collections.nCopies(4, I32)));

    private StateCatalog() {}

    /** The variant for weights in integers of so many bits and an element type of the other operand and the result. */
    public static KernelVariant scaled(int bits, DType dtype) {
        return KernelVariant.of(dtype).with("q" + bits, "TENON_BITS=" + bits);
    }

    /** The same with a number of elements that have one scale, 16 or 32 of them. */
    public static KernelVariant scaledRuns(int bits, int run, DType dtype) {
        return scaled(bits, dtype).with("r" + run, "TENON_RUN=" + run);
    }

    /** The variant for weights packed in a format and an element type of the other operand and the result. */
    public static KernelVariant packed(BlockFormat format, DType dtype) {
        return KernelVariant.of(dtype).with(format.name().toLowerCase(Locale.ROOT), "TENON_FORMAT=" + format.name());
    }

    /** The variant of a recurrent cell: 0 RNN, 1 GRU, 2 LSTM. */
    public static KernelVariant cell(int cell, DType dtype) {
        return KernelVariant.of(dtype).with(List.of("rnn", "gru", "lstm").get(cell), "TENON_CELL=" + cell);
    }

    /** Every file. */
    static List<KernelFile> all() {
        return List.of(
                QUANTIZE,
                DYNAMIC_QUANTIZE,
                MATMUL_INTEGER,
                RANDOM,
                SAMPLE,
                RECURRENT_INPUTS,
                RECURRENT,
                LSTM_TILE,
                SELECTIVE_SCAN,
                GATED_DELTA_NET,
                DEQUANT_MATMUL,
                DEQUANT_GEMV,
                DEQUANT_GEMV_MMA,
                DEQUANT_MATMUL_MMA,
                SCALED_MATMUL,
                SCALED_GEMV,
                SCALED_MATMUL_MMA,
                SCALED_GEMV_MMA);
    }
}
