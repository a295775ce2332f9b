package dev.tenon.cli.kernels;

import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSpec;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds kernels and their cases by the names that people know them by: a part of a file's path, an entry, or a usual
 * name of what several entries do.
 */
final class KernelNames {
    /**
     * What a usual name stands for.
     *
     * @param files stems of files
     * @param cases words in the names of cases
     */
    private record Meaning(List<String> files, List<String> cases) {
        private static Meaning of(String file, String... cases) {
            return new Meaning(List.of(file), List.of(cases));
        }
    }

    private static final SequencedMap<String, Meaning> USUAL = new TreeMap<>(Map.ofEntries(
            Map.entry("unary", Meaning.of("unary", "unary", "Unary[")),
            Map.entry("binary", Meaning.of("binary", "Binary[")),
            Map.entry("fused_binary_unary", Meaning.of("binary", "Region[")),
            Map.entry("compare", Meaning.of("compare", "Compare[")),
            Map.entry("where_select", Meaning.of("where_select", "Where[")),
            Map.entry("cast", new Meaning(List.of("cast", "cast_narrow"), List.of("Cast["))),
            Map.entry("copy", new Meaning(List.of("copy"), List.of("Copy["))),
            Map.entry("elementwise_region", Meaning.of("elementwise_region", "Region[")),
            Map.entry("grouped_matmul", Meaning.of("grouped_matmul", "grouped_matmul", "GroupedMatMul[")),
            Map.entry("dequant_matmul", Meaning.of("dequant_matmul", "DequantMatMul[")),
            Map.entry("pool1d", Meaning.of("pool", "Pool[")),
            Map.entry("pool2d", Meaning.of("pool", "Pool[")),
            Map.entry("pool3d", Meaning.of("pool", "Pool[")),
            Map.entry(
                    "softmax",
                    new Meaning(
                            List.of(
                                    "softmax_three_pass",
                                    "softmax_warp",
                                    "softmax_team",
                                    "softmax_block",
                                    "softmax_strided"),
                            List.of("softmax"))),
            Map.entry(
                    "log_softmax",
                    new Meaning(
                            List.of("softmax_warp", "softmax_team", "softmax_block", "softmax_strided"),
                            List.of("log_softmax"))),
            Map.entry(
                    "layernorm",
                    new Meaning(
                            List.of("layernorm_short", "layernorm_warp", "layernorm_team", "layernorm_block"),
                            List.of("layernorm"))),
            Map.entry(
                    "rmsnorm",
                    new Meaning(List.of("rmsnorm_warp", "rmsnorm_team", "rmsnorm_block"), List.of("rmsnorm"))),
            Map.entry("fused_residual_ln", Meaning.of("residual_norm", "residual_norm layer")),
            Map.entry("fused_residual_rms", Meaning.of("residual_norm", "residual_norm rms")),
            Map.entry("reduce", Meaning.of("reduce", "reduce", "Reduce[")),
            Map.entry("argmax", Meaning.of("arg_reduce", "ArgReduce[")),
            Map.entry("cumsum", Meaning.of("cumulative", "Cumulative[")),
            Map.entry("topk", new Meaning(List.of("top_k", "radix_sort"), List.of("TopK["))),
            Map.entry("transpose", Meaning.of("transpose", "Transpose[")),
            Map.entry("narrow", Meaning.of("strided_copy", "Slice[")),
            Map.entry("concat", Meaning.of("strided_copy", "Concat[")),
            Map.entry("expand", Meaning.of("strided_copy", "Expand[")),
            Map.entry("gather", Meaning.of("gather", "gather ")),
            Map.entry("gather_axis", Meaning.of("gather", "gather Gather[")),
            Map.entry(
                    "scatter_add_zero",
                    new Meaning(List.of("scatter_combine", "scatter_add"), List.of("ScatterElements["))),
            Map.entry(
                    "scatter_add_acc",
                    new Meaning(List.of("scatter_combine", "scatter_add"), List.of("ScatterElements["))),
            Map.entry("rope", Meaning.of("rope", "rope")),
            Map.entry("selective_scan", Meaning.of("selective_scan", "SelectiveScan[")),
            Map.entry("sample", Meaning.of("sample", "Sample[")),
            Map.entry("quantize", Meaning.of("quantize", " Quantize[")),
            Map.entry("dequantize", Meaning.of("quantize", "Dequantize["))));

    private KernelNames() {}

    /** The usual names. */
    static Stream<String> usual() {
        return USUAL.keySet().stream();
    }

    /** The usual names of a file that are not entries of it. */
    static List<String> others(KernelFile file) {
        List<String> entries = file.entries().stream().map(KernelSpec::entry).toList();
        return USUAL.entrySet().stream()
                .filter(usual -> usual.getValue().files().contains(stem(file)) && !entries.contains(usual.getKey()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The file's name without folder and ending. */
    static String stem(KernelFile file) {
        return file.path()
                .substring(file.path().lastIndexOf('/') + 1, file.path().lastIndexOf('.'));
    }

    /** Whether a name means a file. */
    static boolean means(String name, KernelFile file) {
        Meaning usual = USUAL.get(name);
        return usual != null
                ? usual.files().contains(stem(file))
                : file.path().contains(name)
                        || file.entries().stream().anyMatch(spec -> spec.entry().equals(name));
    }

    /** Whether a name means a case. */
    static boolean means(String name, KernelCase one) {
        String text = one.toString();
        Meaning usual = USUAL.get(name);
        return text.contains(name) || (usual != null && usual.cases().stream().anyMatch(text::contains));
    }
}
