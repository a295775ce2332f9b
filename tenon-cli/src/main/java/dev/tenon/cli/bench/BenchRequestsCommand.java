package dev.tenon.cli.bench;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Samples;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cli.console.Values;
import dev.tenon.cli.model.CompileSettings;
import dev.tenon.cli.model.DefaultModel;
import dev.tenon.core.error.InputException;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.models.embedding.EmbeddingEncoder;
import dev.tenon.models.embedding.EncoderOptions;
import dev.tenon.models.serving.BatcherOptions;
import java.io.PrintWriter;
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

/** Many clients with one text each, as a server has them. */
@Command(
        name = "requests",
        mixinStandardHelpOptions = true,
        description =
                "Times many clients that embed one text each at a time, whose texts a batcher puts together, beside"
                        + " fixed batches of as many texts; at the end the batcher is closed while they ask.")
final class BenchRequestsCommand implements Callable<Integer> {
    private static final int BATCHES = 16;
    private static final int MOST_TEXTS = 2048;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", arity = "0..1", description = "An encoder; all-MiniLM-L6-v2 by default.")
    @Nullable
    Path model;

    @Option(
            names = "--clients",
            paramLabel = "N",
            converter = Values.Positive.class,
            description = "Clients, and texts of a fixed batch (${DEFAULT-VALUE}).")
    int clients = 64;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            converter = Values.Seconds.class,
            description = "How long clients ask; fixed batches take half as long before and after it"
                    + " (${DEFAULT-VALUE}).")
    double seconds = 10;

    @Option(
            names = "--words",
            paramLabel = "DIST",
            converter = Distribution.Converter.class,
            description = "Words of a text: a number, A..B evenly, A+exp(M)..B exponentially (${DEFAULT-VALUE}).")
    Distribution words = new Distribution(5, 40, 90);

    @Option(names = "--json", description = "One object.")
    boolean json;

    @Mixin
    CompileSettings settings = new CompileSettings();

    @Mixin
    DeviceOptions device = new DeviceOptions();

    /** What was measured; {@code fixed} and {@code served} are texts a second. */
    private record Result(double fixed, double served, Samples latency, ClientLoad.Seen seen) {
        /** The share of the fixed batches' texts a second that clients get. */
        double share() {
            return served / fixed;
        }
    }

    /** @return 1 when a request was lost */
    @Override
    public Integer call() throws InterruptedException {
        EncoderOptions options = EncoderOptions.defaults()
                .withEngine(device.options())
                .withCompile(settings.apply(CompileOptions.defaults()));
        List<String> texts = BenchTextsCommand.texts(texts(), words);
        Result result;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                EmbeddingEncoder encoder =
                        EmbeddingEncoder.load(model != null ? model : DefaultModel.path(), device.target(), options)) {
            progress.say("all texts once …");
            fixed(encoder, texts, 0);
            progress.say("fixed batches …");
            double before = fixed(encoder, texts, seconds / 2);
            progress.say(clients + " clients …");
            ClientLoad.Seen seen = ClientLoad.run(encoder.batcher(BatcherOptions.defaults()), texts, clients, seconds);
            if (seen.micros().isEmpty()) {
                throw new InputException("no request was answered within " + seconds + " s; give more --seconds");
            }
            progress.say("fixed batches again …");
            double after = fixed(encoder, texts, seconds / 2);
            result = new Result(
                    (before + after) / 2,
                    seen.micros().size() / seen.seconds(),
                    Samples.of(seen.micros().stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray()),
                    seen);
        }
        print(result);
        return result.seen.lost() == 0 ? 0 : 1;
    }

    /** How many texts there are: some batches of them. */
    private int texts() {
        return Math.max(clients, (int) Math.min(MOST_TEXTS, (long) BATCHES * clients));
    }

    /** Texts a second in batches of as many as there are clients; without seconds once through all of them. */
    private double fixed(EmbeddingEncoder encoder, List<String> texts, double seconds) {
        long start = System.nanoTime();
        long done = 0;
        do {
            int from = (int) (done % (texts.size() - clients + 1));
            encoder.embed(texts.subList(from, from + clients));
            done += clients;
        } while (seconds > 0 ? System.nanoTime() - start < seconds * 1e9 : done + clients <= texts.size());
        return done / ((System.nanoTime() - start) / 1e9);
    }

    private void print(Result result) {
        PrintWriter out = spec.commandLine().getOut();
        ClientLoad.Seen seen = result.seen;
        double fair = clients / result.served * 1e6;
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("bench", "requests");
            object.put("device", device.target().toString());
            object.put("clients", clients);
            object.put("requests", seen.micros().size());
            object.put("fixed_texts_per_s", result.fixed);
            object.put("texts_per_s", result.served);
            object.put("share", result.share());
            result.latency.into(object);
            object.put("p99_us", result.latency.p99());
            object.put("p99_per_turn", result.latency.p99() / fair);
            object.put("refused", seen.refused());
            object.put("lost", seen.lost());
            Json.print(out, object);
            return;
        }
        Table table = new Table("", "texts a second", "of fixed", "median", "p99", "p99 per turn");
        table.row("batches of " + clients, rate(result.fixed), "", "", "", "");
        table.row(
                Units.counted(clients, "client"),
                rate(result.served),
                String.format(Locale.ROOT, "%.2f", result.share()),
                Units.duration(result.latency.median()),
                Units.duration(result.latency.p99()),
                String.format(Locale.ROOT, "%.2f", result.latency.p99() / fair));
        table.print(out);
        out.println(Units.counted(seen.micros().size(), "request") + " answered, " + seen.refused() + " refused, "
                + seen.lost() + " lost; a turn is what as many texts as clients take: " + Units.duration(fair));
    }

    private static String rate(double textsPerSecond) {
        return String.format(Locale.ROOT, "%.0f", textsPerSecond);
    }
}
