package dev.tenon.cli.model;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.StandardInput;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.models.embedding.Assumption;
import dev.tenon.models.embedding.EmbeddingEncoder;
import dev.tenon.models.embedding.Embeddings;
import dev.tenon.models.embedding.EncoderOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Texts to vectors. */
@Command(
        name = "embed",
        mixinStandardHelpOptions = true,
        description = "Sentence embeddings and their cosine similarities.")
public final class EmbedCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(
            paramLabel = "TEXT",
            arity = "0..*",
            description = "The texts; without any, one a line from standard input.")
    List<String> texts = List.of();

    @Option(
            names = "--model",
            paramLabel = "PATH",
            description = "A BERT-like .onnx model, or a folder with one, its tokenizer.json and, where they are, its"
                    + " sentence-transformers files beside it; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(names = "--tokenizer", paramLabel = "FILE", description = "The tokenizer.json, where it lies elsewhere.")
    @Nullable
    Path tokenizer;

    @Option(names = "--json", description = "One object a text: {\"text\": …, \"vector\": […]}.")
    boolean json;

    @Option(
            names = "--time",
            description =
                    "Say on standard error where the time to the result went, and how long the same texts take again.")
    boolean time;

    @Mixin
    EncoderSettings encoding = new EncoderSettings();

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        List<String> all = texts();
        Path file = model != null ? model : DefaultModel.path();
        Path words = tokenizer != null ? tokenizer : EmbeddingEncoder.tokenizerBeside(file);
        Embeddings found;
        List<Assumption> assumptions;
        int limit;
        List<String> times = new ArrayList<>();
        try (Progress progress = new Progress(err)) {
            progress.say("loading " + file.getFileName() + " …");
            EncoderOptions options = encoding.apply(EncoderOptions.defaults())
                    .withEngine(device.options())
                    .withCompile(settings.apply(CompileOptions.defaults()));
            try (EmbeddingEncoder encoder = EmbeddingEncoder.load(file, words, device.target(), options, all)) {
                progress.say("embedding " + all.size() + " text(s) …");
                FirstResult.modelIsLoaded(encoder.model().planMillis());
                found = encoder.embed(
                        all, done -> progress.say("embedding: " + done + " of " + all.size() + " text(s) …"));
                assumptions = encoder.assumptions();
                limit = encoder.maxTokens();
                if (time) {
                    times.add(FirstResult.now(encoder.model().planMillis()).toString());
                    times.add("the same again " + again(encoder, all));
                }
            }
        }
        if (model != null && !assumptions.isEmpty()) { // of the default model we know them to be right
            err.println(spec.qualifiedName() + ": no file of the model says otherwise, so assumed: "
                    + assumptions.stream()
                            .map(one -> one.what() + " (" + one.option() + ")")
                            .collect(Collectors.joining(", ")));
        }
        if (!found.cut().isEmpty()) {
            err.println(spec.qualifiedName() + ": " + found.cut().size() + " of " + Units.counted(all.size(), "text")
                    + " cut at " + limit + " tokens (--max-tokens); --long split embeds them whole");
        }
        List<float[]> vectors = found.vectors();
        times.forEach(err::println);
        if (json) {
            for (int i = 0; i < all.size(); i++) {
                Map<String, Object> object = new LinkedHashMap<>();
                object.put("text", all.get(i));
                object.put("vector", vectors.get(i));
                Json.print(out, object);
            }
        } else {
            printSimilarities(out, all, vectors);
        }
        return 0;
    }

    /** How long the texts take once all is in place. */
    private static String again(EmbeddingEncoder encoder, List<String> texts) {
        long start = System.nanoTime();
        encoder.embed(texts);
        return Units.duration((System.nanoTime() - start) / 1e3);
    }

    private List<String> texts() throws IOException {
        if (!texts.isEmpty()) {
            return texts;
        }
        List<String> lines = StandardInput.isTerminal() ? List.of() : StandardInput.lines(System.in);
        if (lines.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "give at least one text, as an argument or as a line of standard input");
        }
        return lines;
    }

    private static void printSimilarities(PrintWriter out, List<String> texts, List<float[]> vectors) {
        String[] header = new String[texts.size() + 2];
        header[0] = "";
        header[1] = "text";
        for (int i = 0; i < texts.size(); i++) {
            header[i + 2] = Integer.toString(i + 1);
        }
        Table table = new Table(header);
        for (int i = 0; i < vectors.size(); i++) {
            Object[] row = new Object[header.length];
            row[0] = i + 1;
            row[1] = shortened(texts.get(i));
            for (int j = 0; j < vectors.size(); j++) {
                row[j + 2] = String.format(Locale.ROOT, "%.4f", cosine(vectors.get(i), vectors.get(j)));
            }
            table.row(row);
        }
        table.print(out);
    }

    private static String shortened(String text) {
        String line = text.replaceAll("\\s+", " ");
        return line.codePointCount(0, line.length()) <= 48
                ? line
                : line.substring(0, line.offsetByCodePoints(0, 47)) + "…";
    }

    private static double cosine(float[] a, float[] b) {
        double product = 0;
        double squaresA = 0;
        double squaresB = 0;
        for (int i = 0; i < a.length; i++) {
            product += (double) a[i] * b[i];
            squaresA += (double) a[i] * a[i];
            squaresB += (double) b[i] * b[i];
        }
        return product / Math.sqrt(squaresA * squaresB);
    }
}
