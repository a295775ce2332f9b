package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.file.KernelFiles.file;
import static dev.tenon.cuda.kernel.file.KernelFiles.typed;
import static dev.tenon.cuda.kernel.file.KernelFiles.widths;
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
import java.util.List;

/** The kernel files of padding, indexing, sorting and searching. */
public final class IndexingCatalog {
    public static final KernelFile PAD = file(
            "movement/pad.cu", List.of("pad"), widths(16), List.of(POINTER, POINTER, POINTER, I32, I32, I64, STRUCT));

    public static final KernelFile TRILU =
            file("movement/trilu.cu", List.of("trilu"), widths(8), List.of(POINTER, POINTER, I64, I64, I64, I32, I64));

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

    public static final KernelFile SCATTER = new KernelFile(
            "indexing/scatter.cu",
            List.of(
                    scatter(
                            "scatter_elements_places",
                            POINTER,
                            POINTER,
                            POINTER,
                            I32,
                            I64,
                            I64,
                            I64,
                            I64,
                            STRUCT,
                            POINTER,
                            I32),
                    scatter("scatter_tuples_places", POINTER, POINTER, POINTER, I64, I64, STRUCT, POINTER, I32),
                    scatter("scatter_claim", POINTER, POINTER, I64, I64),
                    scatter("scatter_write", POINTER, POINTER, POINTER, POINTER, I64, I64, I64)),
            widths(16));

    public static final KernelFile SCATTER_COMBINE = new KernelFile(
            "indexing/scatter_combine.cu",
            List.of(
                    combine("scatter_keys", POINTER, POINTER, I32, I64),
                    combine("scatter_sorted", POINTER, POINTER, POINTER, POINTER, I32, I32, I32, I64, I64, I64),
                    combine("scatter_plain", POINTER, POINTER, POINTER, I32, I32, I64, I64, I64)),
            typed());

    public static final KernelFile SCATTER_SLICES = new KernelFile(
            "indexing/scatter_slices.cu",
            List.of(
                    slices("scatter_clear", POINTER, I64),
                    slices("scatter_starts", POINTER, POINTER, I32, I64, I64),
                    slices(
                            "scatter_slices",
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            I32,
                            I32,
                            I64,
                            I64,
                            I64)),
            KernelFiles.floats());

    public static final KernelFile SCATTER_ADD = file(
            "indexing/scatter_add.cu",
            List.of("scatter_add"),
            List.of(KernelVariant.of(DType.F32), KernelVariant.of(DType.F64)),
            List.of(POINTER, POINTER, POINTER, I64, I64, I64));

    public static final KernelFile RADIX_SORT = new KernelFile(
            "sorting/radix_sort.cu",
            List.of(
                    sort("radix_count", POINTER, POINTER, I64, I64, I64, I64, I32),
                    sort("radix_offsets", POINTER, I64, I64),
                    sort("radix_place", POINTER, POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64, I32)),
            List.of(KernelFiles.width(4), KernelFiles.width(8)));

    private static final List<ParameterType> TOP_K_PARAMETERS =
            List.of(POINTER, POINTER, POINTER, I32, I64, I32, I64, I64, I64, I64, I32);

    public static final KernelFile TOP_K = new KernelFile(
            "sorting/top_k.cu",
            List.of(
                    new KernelSpec("sorting/top_k.cu", "top_k_small", TOP_K_PARAMETERS),
                    new KernelSpec("sorting/top_k.cu", "top_k_select", TOP_K_PARAMETERS),
                    topK("top_k_keys", POINTER, POINTER, I32, I64, I32, I64, I64, I64),
                    topK("top_k_take", POINTER, POINTER, POINTER, POINTER, POINTER, I32, I64, I32, I64, I64, I64, I64)),
            widths(8));

    public static final KernelFile TOP_K_WARP = file(
            "sorting/top_k_warp.cu",
            List.of("top_k_warp"),
            widths(8),
            List.of(POINTER, POINTER, POINTER, I32, I64, I32, I64, I64, I64, I32, I32));

    public static final KernelFile ARG_REDUCE = new KernelFile(
            "reduce/arg_reduce.cu",
            List.of(
                    new KernelSpec(
                            "reduce/arg_reduce.cu",
                            "arg_reduce",
                            List.of(POINTER, POINTER, POINTER, I32, I64, I32, I32, I64, I64, I64, I64, I32)),
                    new KernelSpec(
                            "reduce/arg_reduce.cu",
                            "arg_reduce_rows",
                            List.of(POINTER, POINTER, POINTER, I32, I64, I32, I32, I64, I64, I64, I32, I32)),
                    new KernelSpec(
                            "reduce/arg_reduce.cu", "arg_reduce_parts", List.of(POINTER, POINTER, I32, I64, I64))),
            widths(8));

    public static final KernelFile CUMULATIVE = new KernelFile(
            "reduce/cumulative.cu",
            List.of(
                    cumulative("cumulative_warp", POINTER, POINTER, I32, I32, I32, I32, I64, I64),
                    cumulative(
                            "cumulative_rows", POINTER, POINTER, POINTER, I32, I32, I32, I32, I32, I64, I64, I64, I64),
                    cumulative(
                            "cumulative_lanes",
                            POINTER,
                            POINTER,
                            POINTER,
                            I32,
                            I32,
                            I32,
                            I32,
                            I32,
                            I64,
                            I64,
                            I64,
                            I64,
                            I64)),
            typed());

    public static final KernelFile CUMULATIVE_PACKS = file(
            "reduce/cumulative_packs.cu",
            List.of("cumulative_packs"),
            KernelFiles.floats(),
            List.of(POINTER, POINTER, I32, I32, I64, I64));

    public static final KernelFile NON_ZERO = new KernelFile(
            "searching/non_zero.cu",
            List.of(
                    new KernelSpec("searching/non_zero.cu", "non_zero_count", List.of(POINTER, POINTER, I64, I64, I64)),
                    new KernelSpec(
                            "searching/non_zero.cu",
                            "non_zero_fill",
                            List.of(POINTER, POINTER, POINTER, POINTER, I64, I64, I64, I64, STRUCT))),
            widths(8));

    public static final KernelFile UNIQUE = new KernelFile(
            "searching/unique.cu",
            List.of(
                    unique("unique_merge", POINTER, POINTER, POINTER, I32, I64, I64, I64, I64, I64),
                    unique("unique_heads", POINTER, POINTER, POINTER, I32, I64, I64, I64, I64),
                    unique("unique_groups", POINTER, POINTER, POINTER, POINTER, POINTER, I64, I64, I64),
                    unique("unique_firsts", POINTER, POINTER, POINTER, I64),
                    unique("unique_ranks", POINTER, POINTER, POINTER, I64, I64, I64),
                    unique(
                            "unique_write",
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            POINTER,
                            I64)),
            widths(8));

    public static final KernelFile BOX_SELECTION = new KernelFile(
            "searching/box_selection.cu",
            List.of(
                    boxes("box_keys", POINTER, POINTER, POINTER, I64),
                    boxes("box_select", POINTER, POINTER, POINTER, POINTER, POINTER, POINTER, I32, I64, I64, I64, I64),
                    boxes("box_write", POINTER, POINTER, POINTER, POINTER, I64, I64, I64)),
            KernelFiles.FLOATS.stream().map(KernelFiles::typed).toList());

    /** Its types are arguments. */
    public static final KernelFile CAST_NARROW = file(
            "elementwise/cast_narrow.cu",
            List.of("cast_narrow"),
            List.of(KernelCatalog.BYTES),
            List.of(POINTER, POINTER, I64, STRUCT, STRUCT, POINTER, I32));

    private IndexingCatalog() {}

    private static KernelSpec unique(String entry, ParameterType... parameters) {
        return new KernelSpec("searching/unique.cu", entry, List.of(parameters));
    }

    private static KernelSpec boxes(String entry, ParameterType... parameters) {
        return new KernelSpec("searching/box_selection.cu", entry, List.of(parameters));
    }

    private static KernelSpec topK(String entry, ParameterType... parameters) {
        return new KernelSpec("sorting/top_k.cu", entry, List.of(parameters));
    }

    private static KernelSpec cumulative(String entry, ParameterType... parameters) {
        return new KernelSpec("reduce/cumulative.cu", entry, List.of(parameters));
    }

    private static KernelSpec scatter(String entry, ParameterType... parameters) {
        return new KernelSpec("indexing/scatter.cu", entry, List.of(parameters));
    }

    private static KernelSpec combine(String entry, ParameterType... parameters) {
        return new KernelSpec("indexing/scatter_combine.cu", entry, List.of(parameters));
    }

    private static KernelSpec slices(String entry, ParameterType... parameters) {
        return new KernelSpec("indexing/scatter_slices.cu", entry, List.of(parameters));
    }

    private static KernelSpec sort(String entry, ParameterType... parameters) {
        return new KernelSpec("sorting/radix_sort.cu", entry, List.of(parameters));
    }

    static List<KernelFile> all() {
        return List.of(
                PAD,
                TRILU,
                ONE_HOT,
                GATHER_ND,
                SCATTER,
                SCATTER_COMBINE,
                SCATTER_SLICES,
                SCATTER_ADD,
                RADIX_SORT,
                TOP_K,
                TOP_K_WARP,
                ARG_REDUCE,
                CUMULATIVE,
                CUMULATIVE_PACKS,
                NON_ZERO,
                UNIQUE,
                BOX_SELECTION,
                CAST_NARROW);
    }
}
