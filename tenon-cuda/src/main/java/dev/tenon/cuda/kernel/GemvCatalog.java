package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.together;
import static dev.tenon.cuda.kernel.file.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kernel file of products of few rows. */
public final class GemvCatalog {
    private static final int FUNCTION_PROLOGUE = 3;
    private static final List<String> PROLOGUES = List.of("", "rms", "layer", "of");

    public static final KernelFile GEMV = file(
            "contraction/gemv.cu",
            List.of("gemv_along_k", "gemv_across_k"),
            KernelFiles.FLOATS.stream()
                    .flatMap(dtype -> Stream.of(1, 2, 4, 8, 16)
                            .flatMap(rows -> prologues().map(variant -> variant.of(dtype, rows))))
                    .toList(),
            together(
                    Collections.nCopies(7, POINTER),
                    Collections.nCopies(3, I64),
                    List.of(
                            COMPUTE, I32, COMPUTE, COMPUTE, I32, I32, COMPUTE, COMPUTE, I32, I32, I32, POINTER,
                            POINTER)));

    private GemvCatalog() {}

    /**
     * A variant of {@link #GEMV}.
     *
     * @param rows 1, 2, 4, 8 or 16
     * @param prologue as {@code prologue.cuh} counts them
     * @param fn the function that rows are made by; null for a norm, or for nothing
     */
    public static KernelVariant rows(DType dtype, int rows, int prologue, @Nullable UnaryFn fn) {
        KernelVariant plain =
                prologue == FUNCTION_PROLOGUE ? KernelCatalog.finishing(dtype, fn) : KernelVariant.of(dtype);
        return plain.with("r" + rows, "TENON_ROWS=" + rows).with(PROLOGUES.get(prologue), "TENON_PROLOGUE=" + prologue);
    }

    private interface RowsVariant {
        KernelVariant of(DType dtype, int rows);
    }

    /** One without a prologue, one for each norm, one for each usual function and one for any other. */
    private static Stream<RowsVariant> prologues() {
        return Stream.concat(
                Stream.of(0, 1, 2).map(prologue -> (dtype, rows) -> rows(dtype, rows, prologue, null)),
                Stream.of(UnaryFn.RELU, UnaryFn.GELU, UnaryFn.GELU_TANH, UnaryFn.SILU, UnaryFn.TANH)
                        .map(fn -> (dtype, rows) -> rows(dtype, rows, FUNCTION_PROLOGUE, fn)));
    }
}
