package dev.tenon.cuda.kernel;

import static dev.tenon.cuda.kernel.ParameterType.COMPUTE;
import static dev.tenon.cuda.kernel.ParameterType.F32;
import static dev.tenon.cuda.kernel.ParameterType.I32;
import static dev.tenon.cuda.kernel.ParameterType.I64;
import static dev.tenon.cuda.kernel.ParameterType.POINTER;

import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Every kernel file there is. A test compares each entry with its source, and finds files and entries that the other side lacks. */
public final class KernelCatalog {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final List<String> WARP =
            List.of("v1r1", "v1r4", "v1r16", "v1r32", "v16r1", "v16r2", "v16r4", "v16r8");
    private static final List<String> BLOCK = List.of("v1t128", "v1t512", "v16t128", "v16t512");

    private static final List<ParameterType> ROWS = List.of(I64, I64);
    private static final List<ParameterType> STRETCHES = List.of(I32, I32, POINTER, POINTER);

    static final KernelFile SOFTMAX_WARP =
            rows("softmax/softmax_warp.cu", WARP, logs(), List.of(POINTER, POINTER), ROWS);
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
    static final KernelFile RMSNORM_BLOCK = rows(
            "norm/rmsnorm_block.cu",
            BLOCK,
            floats(),
            List.of(POINTER, POINTER, POINTER),
            ROWS,
            List.of(COMPUTE),
            STRETCHES);

    /** For bytes, whatever their type. */
    static final KernelVariant BYTES = new KernelVariant("_bytes", DType.U8, List.of());

    static final KernelFile COPY = new KernelFile(
            "movement/copy.cu",
            List.of(new KernelSpec("movement/copy.cu", "copy", List.of(POINTER, POINTER, I64))),
            List.of(BYTES));

    /** All-reduce over peer memory, the fast form and the plain one. */
    public static final KernelFile ONESHOT = oneshot("oneshot");

    public static final KernelFile ONESHOT_FLAGS = oneshot("oneshot_flags");

    private KernelCatalog() {}

    public static List<KernelFile> all() {
        return List.of(
                SOFTMAX_THREE_PASS,
                SOFTMAX_WARP,
                SOFTMAX_BLOCK,
                SOFTMAX_STRIDED,
                LAYERNORM_WARP,
                LAYERNORM_BLOCK,
                RMSNORM_WARP,
                RMSNORM_BLOCK,
                COPY,
                ONESHOT,
                ONESHOT_FLAGS);
    }

    private static List<KernelVariant> floats() {
        return FLOATS.stream().map(KernelVariant::of).toList();
    }

    private static List<KernelVariant> logs() {
        return FLOATS.stream()
                .flatMap(dtype -> Stream.of(log(dtype, false), log(dtype, true)))
                .toList();
    }

    /** The softmax or log-softmax variant of a type. */
    static KernelVariant log(DType dtype, boolean log) {
        return KernelVariant.of(dtype).with(log ? "log" : "", "TENON_LOG=" + (log ? 1 : 0));
    }

    private static KernelFile oneshot(String name) {
        String path = "collective/" + name + ".cu";
        return new KernelFile(
                path,
                List.of(new KernelSpec(path, name, List.of(POINTER, POINTER, POINTER, I64, I32, I32, F32))),
                Stream.of(DType.F32, DType.F16, DType.BF16)
                        .map(KernelVariant::of)
                        .toList());
    }

    /** A file whose entries are named after it and a form each, with the same parameters. */
    @SafeVarargs
    private static KernelFile rows(
            String path, List<String> forms, List<KernelVariant> variants, List<ParameterType>... parameters) {
        String name = path.substring(path.indexOf('/') + 1, path.length() - ".cu".length());
        List<ParameterType> all = new ArrayList<>();
        for (List<ParameterType> some : parameters) {
            all.addAll(some);
        }
        List<KernelSpec> entries = forms.isEmpty()
                ? List.of(new KernelSpec(path, name, all))
                : forms.stream()
                        .map(form -> new KernelSpec(path, name + "_" + form, all))
                        .toList();
        return new KernelFile(path, entries, variants);
    }
}
