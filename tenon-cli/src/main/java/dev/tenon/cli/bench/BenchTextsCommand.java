package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.core.error.InputException;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.ShapePolicy;
import dev.tenon.models.embedding.EmbeddingEncoder;
import dev.tenon.models.embedding.EncoderOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Texts of many lengths, the first time and again. */
@Command(
        name = "texts",
        mixinStandardHelpOptions = true,
        description = "Times the embedding of many texts as people do it: loading, the first pass and later ones,"
                + " tokenizing included, without warming up.")
final class BenchTextsCommand implements Callable<Integer> {
    private static final String[] WORDS = {
        "the",
        "engine",
        "of",
        "a",
        "ship",
        "and",
        "river",
        "runs",
        "under",
        "bridge",
        "because",
        "winter",
        "is",
        "long",
        "people",
        "write",
        "letters",
        "to",
        "music",
        "from",
        "mountain",
        "quickly",
        "without",
        "glass",
        "computation",
        "embedding",
        "unbelievable",
        "kilometre",
        "yesterday",
        "photosynthesis"
    };

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An encoder; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--count",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Texts (${DEFAULT-VALUE}).")
    int count = 600;

    @Option(
            names = "--words",
            paramLabel = "DIST",
            converter = Distribution.Converter.class,
            description = "Words of a text: a number, A..B evenly, A+exp(M)..B exponentially (${DEFAULT-VALUE}).")
    Distribution words = new Distribution(5, 40, 90);

    @Option(
            names = "--passes",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Passes over the same texts (${DEFAULT-VALUE}).")
    int passes = 3;

    @Option(
            names = "--batch",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Texts a batch; by default what suits the device.")
    @Nullable
    Integer batch;

    @Option(
            names = "--lengths",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Lengths are rounded up to multiples of N; by default as suits the device.")
    @Nullable
    Integer lengths;

    @Option(
            names = "--max-tokens",
            paramLabel = "N",
            converter = Values.Tokens.class,
            description = "The most tokens of a text; by default as the model's files say.")
    @Nullable
    Integer maxTokens;

    @Option(names = "--texts", paramLabel = "FILE", description = "One text a line, instead of random words.")
    @Nullable
    Path file;

    @Option(names = "--save", paramLabel = "FILE", description = "Write the texts, one a line.")
    @Nullable
    Path save;

    @Option(names = "--json", description = "One object.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<String> texts = file != null ? Files.readAllLines(file) : texts(count, words);
        if (save != null) {
            Files.write(save, texts);
        }
        if (texts.isEmpty()) {
            throw new InputException(file + " has no texts; expected one a line");
        }
        EncoderOptions options = EncoderOptions.defaults()
                .withEngine(device.options())
                .withCompile(settings.apply(CompileOptions.defaults()));
        options = batch == null ? options : options.withBatch(batch);
        options = maxTokens == null ? options : options.withMaxTokens(maxTokens);
        options = lengths == null ? options : options.withLengths(ShapePolicy.multiplesOf(lengths));
        List<Double> seconds = new ArrayList<>();
        long before = System.nanoTime();
        double loading;
        int plans;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                EmbeddingEncoder encoder =
                        EmbeddingEncoder.load(model != null ? model : DefaultModel.path(), device.target(), options)) {
            loading = since(before);
            for (int pass = 1; pass <= passes; pass++) {
                String where = "pass " + pass + " of " + passes + ": ";
                long start = System.nanoTime();
                encoder.embed(texts, done -> progress.say(where + done + " of " + texts.size() + " texts …"));
                seconds.add(since(start));
            }
            plans = encoder.model().report().plans().size();
        }
        if (json) {
            Json.print(out, object(texts.size(), loading, seconds, plans));
        } else {
            print(out, texts.size(), loading, seconds, plans);
        }
        return 0;
    }

    private static double since(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private Map<String, Object> object(int texts, double loading, List<Double> seconds, int plans) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", "texts");
        object.put("device", device.target().toString());
        object.put("texts", texts);
        object.put("words", file != null ? String.valueOf(file.getFileName()) : words.toString());
        object.put("weights", CompileSettings.word(settings.weights));
        object.put("mode", settings.mode.toString());
        object.put("load_s", loading);
        object.put("pass_s", seconds);
        object.put("plans", plans);
        return object;
    }

    private static void print(PrintWriter out, int texts, double loading, List<Double> seconds, int plans) {
        Table table = new Table("", "time", "texts a second");
        table.row("load", Units.duration(loading * 1e6), "");
        for (int pass = 0; pass < seconds.size(); pass++) {
            double time = seconds.get(pass);
            table.row(
                    "pass " + (pass + 1), Units.duration(time * 1e6), String.format(Locale.ROOT, "%.0f", texts / time));
        }
        table.print(out);
        out.println(Units.counted(texts, "text") + ", " + Units.counted(plans, "plan"));
    }

    /** Random words, the same at every call. */
    static List<String> texts(int count, Distribution words) {
        SplittableRandom random = new SplittableRandom(7);
        List<String> texts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            StringBuilder text = new StringBuilder();
            for (long word = words.next(random); word > 0; word--) {
                text.append(WORDS[random.nextInt(WORDS.length)]).append(word > 1 ? " " : "");
            }
            texts.add(text.toString());
        }
        return texts;
    }
}
