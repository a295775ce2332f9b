package dev.tenon.cuda.kernel.file;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cuda.port.Architecture;
import dev.tenon.cuda.port.Hash;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The texts of our kernel files and headers, out of this module's resources; read once. Thread-safe. */
public final class KernelSources {
    private static final String ROOT = "/dev/tenon/cuda/kernels/";
    /** By path: beside the kernels that they belong to, or in {@code include}. Sources include them by name alone. */
    private static final List<String> HEADERS = List.of(
            "include/binary_fn.cuh",
            "include/copy_engine.cuh",
            "include/device_meeting.cuh",
            "include/device_memory.cuh",
            "include/device_mma.cuh",
            "include/device_numbers.cuh",
            "include/indices.cuh",
            "include/pack.cuh",
            "include/row_block.cuh",
            "include/row_edges.cuh",
            "include/row_rules.cuh",
            "include/row_team.cuh",
            "include/row_warp.cuh",
            "include/short_fn.cuh",
            "include/tenon.cuh",
            "include/types.cuh",
            "include/unary_fn.cuh",
            "include/walk.cuh",
            "include/wgmma.cuh",
            "attention/attention.cuh",
            "attention/attention_fragments.cuh",
            "attention/attention_plain.cuh",
            "attention/attention_ragged.cuh",
            "attention/attention_rows.cuh",
            "attention/attention_split.cuh",
            "attention/attention_tile.cuh",
            "attention/whole_heads.cuh",
            "collective/oneshot.cuh",
            "contraction/block_formats.cuh",
            "contraction/gemv_tiles.cuh",
            "contraction/groups.cuh",
            "contraction/kept_tile.cuh",
            "contraction/mma_operand.cuh",
            "contraction/mma_tile.cuh",
            "contraction/packed_tile.cuh",
            "contraction/plain_tile.cuh",
            "contraction/product_ring.cuh",
            "contraction/prologue.cuh",
            "convolution/conv.cuh",
            "convolution/conv_direct.cuh",
            "convolution/conv_gather.cuh",
            "convolution/conv_tile.cuh",
            "convolution/conv_windows.cuh",
            "convolution/few_channels.cuh",
            "convolution/few_channels_mma.cuh",
            "elementwise/elementwise.cuh",
            "elementwise/fused_operands.cuh",
            "elementwise/narrow_types.cuh",
            "elementwise/region.cuh",
            "encoder/layers.cuh",
            "encoder/layers_attention.cuh",
            "encoder/layers_roles.cuh",
            "encoder/layers_rows.cuh",
            "encoder/layers_words.cuh",
            "encoder/resident.cuh",
            "encoder/resident_attention.cuh",
            "norm/norm_rules.cuh",
            "norm/row_residual_block.cuh",
            "quantisation/quantisation.cuh",
            "random/philox.cuh",
            "random/sample_few.cuh",
            "reduce/reduce.cuh",
            "reduce/reduce_rule.cuh",
            "searching/compact.cuh",
            "softmax/row_strided.cuh",
            "softmax/softmax_rule.cuh",
            "sorting/block_sort.cuh",
            "sorting/sort_key.cuh",
            "state/recurrent.cuh",
            "window/resize.cuh",
            "window/sample.cuh");

    /**
     * From these on our sources have code of their own, and launches count on it: clusters, for one, which older code
     * knows nothing of. A test compares them with the sources.
     */
    public static final List<Architecture> STEPS =
            List.of(new Architecture(7, 5), new Architecture(8, 0), new Architecture(9, 0));

    /** As our sources and generated headers write it, at the beginning of a line. */
    private static final String INCLUDE = "#include \"";

    private KernelSources() {}

    /** Whether code for an architecture does on a device what is expected of it there. */
    public static boolean serves(Architecture code, Architecture device) {
        return code.number() <= device.number() && steps(code) == steps(device);
    }

    private static long steps(Architecture architecture) {
        return STEPS.stream()
                .filter(step -> step.number() <= architecture.number())
                .count();
    }

    private static final Lazy<Map<String, String>> TEXTS = new Lazy<>() {
        @Override
        protected Map<String, String> make() {
            return load();
        }
    };

    private static final Lazy<Map<String, String>> DIGESTS = new Lazy<>() {
        @Override
        protected Map<String, String> make() {
            Map<String, String> digests = new TreeMap<>();
            headers()
                    .forEach((name, text) ->
                            digests.put(name, new Hash().add(text).hex()));
            return Map.copyOf(digests);
        }
    };

    private static final Lazy<Map<String, List<String>>> INCLUDES = new Lazy<>() {
        @Override
        protected Map<String, List<String>> make() {
            Map<String, List<String>> includes = new TreeMap<>();
            headers().forEach((name, text) -> includes.put(name, includes(text)));
            return Map.copyOf(includes);
        }
    };

    /** Reads the headers and works out their digests, which the first kernel would wait for. */
    public static void prepare() {
        DIGESTS.get();
        INCLUDES.get();
    }

    private static Map<String, String> load() {
        Map<String, String> headers = new TreeMap<>();
        HEADERS.forEach(path -> headers.put(path.substring(path.lastIndexOf('/') + 1), text(path)));
        return Map.copyOf(headers);
    }

    /** Every header, by the name that sources include. */
    public static Map<String, String> headers() {
        return TEXTS.get();
    }

    /**
     * The headers of ours that texts include, directly or through one another, by name. A source is given these alone,
     * so that code built before a change of another header stays valid.
     */
    public static Map<String, String> includedBy(Collection<String> texts) {
        Map<String, String> found = new TreeMap<>();
        Deque<String> left = new ArrayDeque<>();
        texts.forEach(text -> left.addAll(includes(text)));
        while (!left.isEmpty()) {
            String name = left.pop();
            String header = headers().get(name);
            if (header != null && found.put(name, header) == null) {
                left.addAll(INCLUDES.get().getOrDefault(name, List.of()));
            }
        }
        return found;
    }

    /** What a text includes by name. */
    private static List<String> includes(String text) {
        List<String> names = new ArrayList<>();
        for (int at = text.indexOf(INCLUDE); at >= 0; at = text.indexOf(INCLUDE, at + 1)) {
            int from = at + INCLUDE.length();
            int to = text.indexOf('"', from);
            if (to > from && (at == 0 || text.charAt(at - 1) == '\n')) {
                names.add(text.substring(from, to));
            }
        }
        return names;
    }

    /** Adds headers to a hash: of ours, which nearly every source has, digests that are worked out once. */
    public static void addTo(Hash hash, Map<String, String> headers) {
        Map<String, String> ours = headers();
        Map<String, String> digests = DIGESTS.get();
        headers.forEach((name, text) -> {
            String digest = text.equals(ours.get(name)) ? digests.get(name) : null;
            hash.add(name).add(digest == null ? new Hash().add(text).hex() : digest);
        });
    }

    public static String text(String path) {
        try (InputStream in = KernelSources.class.getResourceAsStream(ROOT + path)) {
            if (in == null) {
                throw new IllegalStateException("the kernel source " + path + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("kernel source " + path, e);
        }
    }
}
