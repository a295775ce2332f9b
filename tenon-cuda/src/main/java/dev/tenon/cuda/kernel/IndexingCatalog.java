package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.KernelFiles.file;
import static dev.tenon.cuda.kernel.KernelFiles.widths;
import static dev.tenon.cuda.kernel.ParameterType.I32;
import static dev.tenon.cuda.kernel.ParameterType.I64;
import static dev.tenon.cuda.kernel.ParameterType.POINTER;
import static dev.tenon.cuda.kernel.ParameterType.STRUCT;

import java.util.List;

/** The kernel files of padding, indexing, sorting and searching. */
public final class IndexingCatalog {
    public static final KernelFile PAD = file(
            "movement/pad.cu",
            List.of("pad"),
            widths(16),
            List.of(POINTER, POINTER, POINTER, I32, I32, I64, STRUCT));

    public static final KernelFile TRILU = file(
            "movement/trilu.cu", List.of("trilu"), widths(8), List.of(POINTER, POINTER, I64, I64, I64, I32, I64));

    public static final KernelFile ONE_HOT = file(
            "indexing/one_hot.cu",
            List.of("one_hot"),
            widths(8),
            List.of(POINTER, POINTER, POINTER, I32, I64, I64, I64));

    public static final KernelFile GATHER_ND = file(
            "indexing/gather_nd.cu",
            List.of("gather_nd"),
            widths(16),
            List.of(POINTER, POINTER, POINTER, I64, I64, I64, I64, STRUCT, POINTER, I32));

    private IndexingCatalog() {}

    static List<KernelFile> all() {
        return List.of(PAD, TRILU, ONE_HOT, GATHER_ND);
    }
}
