package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.HALVES;
import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.ParameterType.F32;
import static dev.tenon.cuda.kernel.file.ParameterType.I32;
import static dev.tenon.cuda.kernel.file.ParameterType.I64;
import static dev.tenon.cuda.kernel.file.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.file.ParameterType.STRUCT;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.util.List;
import java.util.stream.Stream;

/**
 * A form of {@code matmul_attention}, the product that makes q, k and v with the attention of their heads.
 *
 * @param size elements of a head, one of {@link #SIZES}
 * @param alongB whether the weights lie along the product's sums
 */
public record ProjectedForm(DType dtype, int size, boolean alongB) {
    /** Sizes of heads that there are forms of. */
    public static final List<Integer> SIZES = List.of(32, 64);
    /** Most tokens of a sequence, and rows of a tile. */
    public static final int TOKENS = 128;
    /** Columns of q, of k and of v that a tile has. */
    public static final int PART = 64;
    /** Threads of a block. */
    public static final int THREADS = 384;
    /** The fewest steps of a sum: beside so many the tile before is attended. */
    public static final int LEAST_STEPS = 6;
    /** Bytes of a row that the copy engine fetches at a time. */
    public static final int LINE = 128;

    private static final int STAGES = 4;
    private static final int BOUNDARY = 1024;

    public static final KernelFile FILE = file(
            "attention/matmul_attention.cu",
            List.of("matmul_attention"),
            HALVES.stream()
                    .flatMap(dtype -> SIZES.stream()
                            .flatMap(size -> Stream.of(false, true)
                                    .map(alongB -> new ProjectedForm(dtype, size, alongB).variant())))
                    .toList(),
            List.of(STRUCT, STRUCT, POINTER, POINTER, POINTER, I64, I64, I64, I32, I32, I32, I32, I32, F32, I32));

    /** Heads of a tile. */
    public int heads() {
        return PART / size;
    }

    /** Dynamic shared memory of a block. */
    public static int sharedBytes() {
        return BOUNDARY + STAGES * (TOKENS + 3 * PART) * LINE + 3 * TOKENS * LINE;
    }

    public KernelVariant variant() {
        return KernelVariant.of(dtype)
                .with("", KernelVariant.SPECIFIC)
                .with("d" + size, "TENON_D=" + size)
                .with(alongB ? "k" : "n", "TENON_ALONG_B=" + (alongB ? 1 : 0));
    }
}
