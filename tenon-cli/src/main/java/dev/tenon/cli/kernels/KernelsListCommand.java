package dev.tenon.cli.kernels;

import dev.tenon.cli.console.Json;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Every kernel entry, by family. */
@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = {
            "Every kernel file by family: its variants, its entries, other names that `check` and `run` take.",
            "--json adds the parameters of each entry."
        })
final class KernelsListCommand implements Callable<Integer> {
    private static final int WIDTH = 100;
    private static final int INDENT = 26;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object an entry.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        Map<String, List<KernelFile>> families = new TreeMap<>();
        KernelCatalog.all()
                .forEach(file -> families.computeIfAbsent(family(file), _ -> new ArrayList<>())
                        .add(file));
        if (json) {
            families.values().forEach(files -> files.forEach(file -> objects(out, file)));
            return 0;
        }
        long entries = 0;
        for (Map.Entry<String, List<KernelFile>> family : families.entrySet()) {
            out.println(family.getKey());
            for (KernelFile file : family.getValue()) {
                print(out, file);
                entries += file.entries().size();
            }
        }
        out.println(entries + " entries in " + KernelCatalog.all().size() + " files");
        return 0;
    }

    private static String family(KernelFile file) {
        return file.path().substring(0, file.path().indexOf('/'));
    }

    private static List<String> variants(KernelFile file) {
        return file.variants().stream()
                .map(KernelVariant::suffix)
                .map(suffix -> suffix.startsWith("_") ? suffix.substring(1) : suffix)
                .filter(suffix -> !suffix.isEmpty())
                .toList();
    }

    private static void print(PrintWriter out, KernelFile file) {
        String stem = KernelNames.stem(file);
        List<String> variants = variants(file);
        // variants of generated sources are known by hashes
        boolean generated = variants.stream().anyMatch(name -> name.length() > WIDTH / 4);
        out.println(line("  " + stem, "", generated ? List.of(variants.size() + " samples") : shortened(variants)));
        List<String> entries = file.entries().stream().map(KernelSpec::entry).toList();
        if (!entries.equals(List.of(stem))) {
            out.println(line("", "entries", entries));
        }
        if (!KernelNames.others(file).isEmpty()) {
            out.println(line("", "also", KernelNames.others(file)));
        }
    }

    /** Where every word stands before every element type, words and types, each once: {@code q4_0 q4_1 of f32 f16}. */
    private static List<String> shortened(List<String> variants) {
        Set<String> words = new LinkedHashSet<>();
        Set<String> types = new LinkedHashSet<>();
        for (String variant : variants) {
            int last = variant.lastIndexOf('_');
            words.add(variant.substring(0, Math.max(0, last)));
            types.add(variant.substring(last + 1));
        }
        boolean all = words.size() > 1 && types.size() > 1 && (long) words.size() * types.size() == variants.size();
        if (!all) {
            return variants;
        }
        List<String> both = new ArrayList<>();
        words.forEach(word -> both.add(word.isEmpty() ? "plain" : word));
        both.add("of");
        both.addAll(types);
        return both;
    }

    /** Words behind a head and a label, wrapped. */
    private static String line(String head, String label, List<String> words) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%-" + INDENT + "s%s", head, label));
        int column = text.length();
        for (String word : words) {
            if (column + 1 + word.length() > WIDTH) {
                text.append('\n').append(" ".repeat(INDENT + label.length()));
                column = INDENT + label.length();
            }
            text.append(' ').append(word);
            column += 1 + word.length();
        }
        return text.toString().stripTrailing();
    }

    private static void objects(PrintWriter out, KernelFile file) {
        for (KernelSpec entry : file.entries()) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("family", family(file));
            object.put("entry", entry.entry());
            object.put("file", file.path());
            object.put("also", KernelNames.others(file));
            object.put("variants", variants(file));
            object.put(
                    "parameters",
                    entry.parameters().stream()
                            .map(parameter -> parameter.name().toLowerCase(Locale.ROOT))
                            .toList());
            Json.print(out, object);
        }
    }
}
