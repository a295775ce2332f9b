package dev.tenon.cli;

import dev.tenon.core.runtime.CompileOptions;
import dev.tenon.models.embedding.EmbeddingEncoder;
import dev.tenon.models.embedding.EncoderOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Texts to vectors. */
@Command(
        name = "embed",
        mixinStandardHelpOptions = true,
        description = "Sentence embeddings and their cosine similarities.")
final class EmbedCommand implements Callable<Integer> {
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
            paramLabel = "FILE",
            description = "A BERT-like .onnx model with its tokenizer.json beside it; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(names = "--tokenizer", paramLabel = "FILE", description = "The tokenizer.json, where it lies elsewhere.")
    @Nullable
    Path tokenizer;

    @Option(
            names = "--max-tokens",
            paramLabel = "N",
            defaultValue = "512",
            converter = Values.Tokens.class,
            description = "Longer texts are cut to this many tokens (512).")
    int maxTokens;

    @Option(names = "--json", description = "One object a text: {\"text\": …, \"vector\": […]}.")
    boolean json;

    @Option(names = "--time", description = "Say on standard error where the time to the result went.")
    boolean time;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<String> all = texts.isEmpty() ? lines() : texts;
        Path file = model != null ? model : DefaultModel.path();
        Path words = tokenizer != null ? tokenizer : EmbeddingEncoder.tokenizerBeside(file);
        float[][] vectors;
        FirstResult first;
        try (Progress progress = new Progress(spec.commandLine().getErr())) {
            progress.say("loading " + file.getFileName() + " …");
            EncoderOptions options = EncoderOptions.defaults()
                    .withRuntime(device.options())
                    .withCompile(settings.apply(CompileOptions.defaults()))
                    .withWeights(settings.stored())
                    .withMaxTokens(maxTokens);
            try (EmbeddingEncoder encoder = EmbeddingEncoder.load(file, words, device.target(), options)) {
                progress.say("embedding " + all.size() + " text(s) …");
                vectors = encoder.encode(all);
                first = time ? FirstResult.now() : null;
            }
        }
        if (first != null) {
            spec.commandLine().getErr().println(first);
        }
        if (json) {
            for (int i = 0; i < vectors.length; i++) {
                Map<String, Object> object = new LinkedHashMap<>();
                object.put("text", all.get(i));
                object.put("vector", vectors[i]);
                Json.print(out, object);
            }
        } else {
            printSimilarities(out, all, vectors);
        }
        return 0;
    }

    private static List<String> lines() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        return in.readAllLines();
    }

    private static void printSimilarities(PrintWriter out, List<String> texts, float[][] vectors) {
        String[] header = new String[texts.size() + 2];
        header[0] = "";
        header[1] = "text";
        for (int i = 0; i < texts.size(); i++) {
            header[i + 2] = Integer.toString(i + 1);
        }
        Table table = new Table(header);
        for (int i = 0; i < vectors.length; i++) {
            Object[] row = new Object[header.length];
            row[0] = i + 1;
            row[1] = shortened(texts.get(i));
            for (int j = 0; j < vectors.length; j++) {
                row[j + 2] = String.format(Locale.ROOT, "%.4f", cosine(vectors[i], vectors[j]));
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
