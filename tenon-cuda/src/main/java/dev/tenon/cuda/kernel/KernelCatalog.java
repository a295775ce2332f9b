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
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.ParameterType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Every kernel file there is. A test compares each entry with its source, and finds files and entries that the other
 * side lacks.
 */
public final class KernelCatalog {
    /** The number of no function: the argument as it is. */
    static final int NO_FUNCTION = 0;

    /** What models put behind products: a kernel of its own each. */
    private static final List<UnaryFn> USUAL_ACTIVATIONS =
            List.of(UnaryFn.RELU, UnaryFn.GELU, UnaryFn.GELU_TANH, UnaryFn.SILU);

    private static final List<String> WARP =
            List.of("v1r1", "v1r4", "v1r16", "v1r32", "v16r1", "v16r2", "v16r4", "v16r8");
    private static final List<String> BLOCK = List.of("v1t128", "v1t512", "v16t512");
    private static final List<String> TEAM = List.of("v8", "v32", "cluster");

    private static final List<ParameterType> ROWS = List.of(I64, I64);
    private static final List<ParameterType> STRETCHES = List.of(I32, I32, POINTER, POINTER);

    static final KernelFile SOFTMAX_WARP =
            rows("softmax/softmax_warp.cu", WARP, logs(), List.of(POINTER, POINTER), ROWS);
    static final KernelFile SOFTMAX_TEAM =
            rows("softmax/softmax_team.cu", TEAM, logs(), List.of(POINTER, POINTER), ROWS, List.of(I32));
    static final KernelFile SOFTMAX_BLOCK =
            rows("softmax/softmax_block.cu", BLOCK, logs(), List.of(POINTER, POINTER), ROWS, STRETCHES);
    static final KernelFile SOFTMAX_STRIDED =
            rows("softmax/softmax_strided.cu", List.of(), logs(), List.of(POINTER, POINTER), ROWS, List.of(I64));
    static final KernelFile SOFTMAX_THREE_PASS =
            rows("softmax/softmax_three_pass.cu", List.of(), floats(), List.of(POINTER, POINTER), ROWS);
    static final KernelFile LAYERNORM_WARP = rows(
            "norm/layernorm_warp.cu",
            WARP,
            floats(),
            List.of(POINTER, POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE));
    static final KernelFile LAYERNORM_SHORT = file(
            "norm/layernorm_short.cu",
            List.of("layernorm_short"),
            Stream.of(DType.F32, DType.F16, DType.BF16).map(KernelVariant::of).toList(),
            together(List.of(POINTER, POINTER, POINTER, POINTER), ROWS, List.of(COMPUTE), List.of(I32)));
    static final KernelFile LAYERNORM_TEAM = rows(
            "norm/layernorm_team.cu",
            TEAM,
            floats(),
            List.of(POINTER, POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE),
            List.of(I32));
    static final KernelFile LAYERNORM_BLOCK = rows(
            "norm/layernorm_block.cu",
            BLOCK,
            floats(),
            List.of(POINTER, POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE),
            STRETCHES);
    static final KernelFile RMSNORM_WARP =
            rows("norm/rmsnorm_warp.cu", WARP, floats(), List.of(POINTER, POINTER, POINTER), ROWS, List.of(COMPUTE));
    static final KernelFile RMSNORM_TEAM = rows(
            "norm/rmsnorm_team.cu",
            TEAM,
            floats(),
            List.of(POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE),
            List.of(I32));
    static final KernelFile RMSNORM_BLOCK = rows(
            "norm/rmsnorm_block.cu",
            BLOCK,
            floats(),
            List.of(POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE),
            STRETCHES);
    static final KernelFile RESIDUAL_NORM = rows(
            "norm/residual_norm.cu",
            List.of("r1", "r2", "r4", "r8", "t128", "t512"),
            FLOATS.stream()
                    .flatMap(dtype -> Stream.of(residual(dtype, true), residual(dtype, false)))
                    .toList(),
            Collections.nCopies(6, POINTER),
            ROWS,
            List.of(COMPUTE));

    /** Types of {@link #EMBEDDING_NORM}, and how many packs of 16 bytes a lane of each of its entries has. */
    public static final List<DType> EMBEDDING_TYPES = List.of(DType.F32, DType.F16, DType.BF16);

    public static final List<Integer> EMBEDDING_PACKS = List.of(1, 2, 4, 8);

    /** Lanes of a row that has exactly three packs for each. */
    public static final List<Integer> EMBEDDING_TEAMS = List.of(16, 32);

    public static final KernelFile EMBEDDING_NORM = file(
            "norm/embedding_norm.cu",
            Stream.concat(
                            EMBEDDING_PACKS.stream().map(packs -> "embedding_norm_r" + packs),
                            EMBEDDING_TEAMS.stream().map(lanes -> "embedding_norm_l" + lanes + "_r3"))
                    .toList(),
            EMBEDDING_TYPES.stream().map(KernelVariant::of).toList(),
            together(
                    List.of(POINTER, POINTER, I64, I32),
                    List.of(POINTER, POINTER, I64, I32),
                    List.of(POINTER, POINTER, I64, I32),
                    List.of(POINTER, I64, I32, POINTER, POINTER, POINTER, I64, I32, F32, POINTER, I32)));

    /** For bytes, whatever their type. */
    public static final KernelVariant BYTES = new KernelVariant("_bytes", DType.U8, List.of());

    static final KernelFile COPY = new KernelFile(
            "movement/copy.cu",
            List.of(
                    new KernelSpec("movement/copy.cu", "copy", List.of(POINTER, POINTER, I64)),
                    new KernelSpec(
                            "movement/copy.cu",
                            "copy_few",
                            Collections.nCopies(CopyKernel.FEW, List.of(POINTER, POINTER, I64)).stream()
                                    .flatMap(List::stream)
                                    .toList())),
            List.of(BYTES));

    static final KernelFile UNARY = elementwise("unary", 1, typed(), "unary");
    static final KernelFile BINARY = elementwise("binary", 2, typed(), "binary", "fused_binary_unary");
    static final KernelFile COMPARE = elementwise("compare", 2, typed(), "compare");
    static final KernelFile WHERE_SELECT = elementwise("where_select", 3, widths(8), "where_select");
    static final KernelFile CAST = elementwise("cast", 1, typed(), "cast");
    static final KernelFile REGION =
            elementwise("elementwise_region", 8, List.of(region(false), region(true)), "elementwise_region");

    /** Its variants are made for each region that comes. */
    static final KernelFile FUSED = file(
            "elementwise/elementwise_fused.cu",
            List.of("elementwise_fused"),
            List.of(),
            List.of(STRUCT, I64, STRUCT, POINTER, I32));

    /** Its variants are made for each row region that comes. */
    static final KernelFile FUSED_ROWS = file(
            "norm/row_fused.cu",
            List.of("row_fused"),
            List.of(),
            List.of(STRUCT, I64, I64, COMPUTE, STRUCT, POINTER, I32));

    static final KernelFile REDUCE = new KernelFile(
            "reduce/reduce.cu",
            List.of(
                    new KernelSpec(
                            "reduce/reduce.cu",
                            "reduce",
                            List.of(POINTER, POINTER, POINTER, I32, I32, I64, I64, STRUCT, STRUCT, I64, I32)),
                    new KernelSpec(
                            "reduce/reduce.cu", "reduce_parts", List.of(POINTER, POINTER, I32, I32, I64, I64, I64))),
            typed());

    private static final List<ParameterType> LANES = List.of(POINTER, POINTER, POINTER, I32, I64, I64, I64);

    static final KernelFile REDUCE_LANES = new KernelFile(
            "reduce/reduce_lanes.cu",
            List.of(
                    new KernelSpec("reduce/reduce_lanes.cu", "reduce_rows", together(LANES, List.of(I64, I32, I32))),
                    new KernelSpec(
                            "reduce/reduce_lanes.cu", "reduce_columns", together(LANES, List.of(STRUCT, I64, I32)))),
            floats());

    static final KernelFile STRIDED_COPY = new KernelFile(
            "movement/strided_copy.cu",
            List.of(new KernelSpec("movement/strided_copy.cu", "strided_copy", List.of(POINTER, POINTER, I64, STRUCT))),
            widths(16));
    static final KernelFile TRANSPOSE = new KernelFile(
            "movement/transpose.cu",
            List.of(
                    new KernelSpec(
                            "movement/transpose.cu",
                            "transpose",
                            List.of(POINTER, POINTER, I64, STRUCT, I64, I64, I64, I64)),
                    new KernelSpec(
                            "movement/transpose.cu",
                            "transpose_packs",
                            List.of(POINTER, POINTER, I64, STRUCT, I64, I64, I64, I64)),
                    new KernelSpec(
                            "movement/transpose.cu",
                            "transpose_narrow",
                            List.of(POINTER, POINTER, I64, STRUCT, I64, I64, I64, I32))),
            widths(8));
    static final KernelFile GATHER = new KernelFile(
            "indexing/gather.cu",
            List.of(
                    new KernelSpec(
                            "indexing/gather.cu",
                            "gather",
                            List.of(POINTER, POINTER, POINTER, I32, I64, I64, I64, I64, POINTER, I32)),
                    new KernelSpec(
                            "indexing/gather.cu",
                            "gather_elements",
                            List.of(POINTER, POINTER, POINTER, I32, I64, I64, I64, STRUCT, POINTER, I32))),
            widths(16));
    static final KernelFile MATMUL = file(
            "contraction/matmul.cu",
            List.of("matmul", "matmul_v4"),
            floats(),
            together(
                    Collections.nCopies(5, POINTER),
                    Collections.nCopies(4, I64),
                    List.of(I32, I32),
                    Collections.nCopies(11, I64),
                    List.of(I32, COMPUTE, COMPUTE)));
    static final KernelFile MATMUL_EPILOGUE = file(
            "contraction/matmul_epilogue.cu",
            List.of("matmul_epilogue", "matmul_epilogue_vw"),
            finishing(),
            together(Collections.nCopies(4, POINTER), ROWS, List.of(I32, COMPUTE, COMPUTE)));

    /** The variants of {@link #finishing(DType, UnaryFn)} for functions. */
    public static final KernelFile GATED_UNIT = file(
            "elementwise/gated_unit.cu",
            List.of("gated_unit", "gated_unit_vw"),
            finishing().stream()
                    .filter(variant -> !variant.equals(finishing(variant.dtype(), null)))
                    .toList(),
            together(List.of(POINTER, POINTER), ROWS, List.of(I32, I32, COMPUTE, COMPUTE)));

    /** All-reduce over peer memory, the fast form and the plain one. */
    public static final KernelFile ONESHOT = oneshot("oneshot");

    public static final KernelFile ONESHOT_FLAGS = oneshot("oneshot_flags");

    private KernelCatalog() {}

    /**
     * Initialises this class: its tables take memory, and a heap that is exhausted meanwhile would break it for good.
     */
    public static void prepare() {
        // entering the method is what initialises
    }

    public static List<KernelFile> all() {
        return Stream.of(
                        own(),
                        ProductCatalog.all(),
                        AttentionCatalog.all(),
                        EncoderCatalog.all(),
                        IndexingCatalog.all(),
                        WindowCatalog.all(),
                        StateCatalog.all())
                .flatMap(List::stream)
                .toList();
    }

    private static List<KernelFile> own() {
        return List.of(
                SOFTMAX_THREE_PASS,
                SOFTMAX_WARP,
                SOFTMAX_TEAM,
                SOFTMAX_BLOCK,
                SOFTMAX_STRIDED,
                LAYERNORM_WARP,
                LAYERNORM_SHORT,
                LAYERNORM_TEAM,
                LAYERNORM_BLOCK,
                RMSNORM_WARP,
                RMSNORM_TEAM,
                RMSNORM_BLOCK,
                RESIDUAL_NORM,
                EMBEDDING_NORM,
                COPY,
                UNARY,
                BINARY,
                COMPARE,
                WHERE_SELECT,
                CAST,
                REGION,
                new KernelFile(FUSED.path(), FUSED.entries(), SampleRegions.variants()),
                new KernelFile(FUSED_ROWS.path(), FUSED_ROWS.entries(), SampleRegions.rows()),
                STRIDED_COPY,
                TRANSPOSE,
                GATHER,
                REDUCE,
                REDUCE_LANES,
                MATMUL,
                MATMUL_EPILOGUE,
                GATED_UNIT,
                ONESHOT,
                ONESHOT_FLAGS);
    }

    private static List<KernelVariant> logs() {
        return FLOATS.stream()
                .flatMap(dtype -> Stream.of(log(dtype, false), log(dtype, true)))
                .toList();
    }

    /** The region interpreter for every type, or for floats of at most 32 bits and booleans. */
    static KernelVariant region(boolean wide) {
        return new KernelVariant(wide ? "_wide" : "_f32", DType.U8, List.of("TENON_WIDE=" + (wide ? 1 : 0)));
    }

    private static KernelFile elementwise(String name, int inputs, List<KernelVariant> variants, String... entries) {
        String path = "elementwise/" + name + ".cu";
        List<ParameterType> all = new ArrayList<>(Collections.nCopies(inputs + 1, POINTER));
        all.addAll(List.of(I64, STRUCT, STRUCT, POINTER, I32));
        return new KernelFile(
                path,
                Stream.of(entries)
                        .map(entry -> new KernelSpec(path, entry, all))
                        .toList(),
                variants);
    }

    /** The softmax or log-softmax variant of a type. */
    static KernelVariant log(DType dtype, boolean log) {
        return KernelVariant.of(dtype).with(log ? "log" : "", "TENON_LOG=" + (log ? 1 : 0));
    }

    /** The variant of a type for a LayerNorm of a sum, where centred, or an RmsNorm. */
    static KernelVariant residual(DType dtype, boolean centred) {
        return KernelVariant.of(dtype)
                .with(centred ? "layer" : "rms", "TENON_RULE=" + (centred ? "LayerNormRule" : "RmsNormRule"));
    }

    private static KernelFile oneshot(String name) {
        return file(
                "collective/" + name + ".cu",
                List.of(name),
                Stream.of(DType.F32, DType.F16, DType.BF16)
                        .map(KernelVariant::of)
                        .toList(),
                List.of(POINTER, POINTER, POINTER, I64, I32, I32, F32));
    }

    private static List<KernelVariant> finishing() {
        return FLOATS.stream()
                .flatMap(dtype -> Stream.concat(
                        Stream.of(finishing(dtype, null)),
                        Arrays.stream(UnaryFn.values()).map(fn -> finishing(dtype, fn))))
                .distinct()
                .toList();
    }

    /**
     * The variant of a type made for a function, or for none; that for any function where it is not one of the usual.
     */
    public static KernelVariant finishing(DType dtype, @Nullable UnaryFn fn) {
        KernelVariant plain = KernelVariant.of(dtype);
        if (fn == null) {
            return plain.with("", "TENON_FN=" + NO_FUNCTION);
        }
        return USUAL_ACTIVATIONS.contains(fn)
                ? plain.with(fn.word(), "TENON_FN=" + fn.code())
                : plain.with("any", "TENON_FN=-1");
    }

    /** A file whose entries are named after it and a form each, with the same parameters. */
    @SafeVarargs
    private static KernelFile rows(
            String path, List<String> forms, List<KernelVariant> variants, List<ParameterType>... parameters) {
        String name = path.substring(path.indexOf('/') + 1, path.length() - ".cu".length());
        List<String> names = forms.isEmpty()
                ? List.of(name)
                : forms.stream().map(form -> name + "_" + form).toList();
        return file(path, names, variants, together(parameters));
    }
}
