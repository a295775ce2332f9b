package dev.tenon.cli.ranks;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Output;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The ring, step by step. */
@Command(
        name = "allreduce",
        mixinStandardHelpOptions = true,
        description =
                "Runs a ring all-reduce of small vectors and shows each step: who sends which chunk to whom, and what every rank then has.")
public final class AllReduceCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(
            names = "--world",
            paramLabel = "N",
            defaultValue = "3",
            converter = RingTrace.FewRanks.class,
            description = "Number of ranks, 1 to 16 (3).")
    int world;

    @Option(
            names = "--length",
            paramLabel = "L",
            converter = RingTrace.FewElements.class,
            description = "Elements of each vector, 0 to 64; the world by default.")
    @Nullable
    Integer length;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draws the steps too.")
    @Nullable
    Path svg;

    @Option(names = "--json", description = "One object a step.")
    boolean json;

    @Override
    public Integer call() throws IOException {
        RingTrace trace = RingTrace.of(world, length != null ? length : world);
        PrintWriter out = spec.commandLine().getOut();
        if (svg != null) {
            Output.write(svg, RingDrawing.of(trace));
        }
        if (json) {
            objects(trace).forEach(object -> Json.print(out, object));
        } else {
            print(trace, out);
        }
        return 0;
    }

    private static void print(RingTrace trace, PrintWriter out) {
        int world = trace.chunks().world();
        out.println(world + " ranks, vectors of " + trace.chunks().length() + ", " + world + " chunks: "
                + IntStream.range(0, world)
                        .mapToObj(chunk ->
                                chunk + " = elements [" + trace.chunks().start(chunk) + ", "
                                        + trace.chunks().end(chunk) + ")")
                        .collect(Collectors.joining(", ")));
        vectors("start", trace.start(), out);
        for (RingTrace.Step step : trace.steps()) {
            out.println();
            out.println(step.phase() + ", step " + step.number() + " of " + (world - 1));
            for (RingTrace.Transfer transfer : step.transfers()) {
                out.println("  rank " + transfer.from() + " sends chunk " + transfer.chunk() + " "
                        + text(transfer.values()) + " to rank " + transfer.to());
            }
            vectors("after", step.after(), out);
        }
        out.println();
        out.println("every rank has " + text(trace.result()));
    }

    private static void vectors(String when, float[][] vectors, PrintWriter out) {
        for (int rank = 0; rank < vectors.length; rank++) {
            out.println("  " + when + ": rank " + rank + " has " + text(vectors[rank]));
        }
    }

    /** Whole numbers, as these small sums are. */
    static String text(float[] values) {
        return list(values).stream().map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
    }

    private static List<Long> list(float[] values) {
        List<Long> list = new ArrayList<>();
        for (float value : values) {
            list.add((long) value);
        }
        return list;
    }

    private static List<List<Long>> list(float[][] vectors) {
        return java.util.Arrays.stream(vectors).map(AllReduceCommand::list).toList();
    }

    private static List<Map<String, Object>> objects(RingTrace trace) {
        List<Map<String, Object>> objects = new ArrayList<>();
        objects.add(object("phase", "start", "vectors", list(trace.start())));
        for (RingTrace.Step step : trace.steps()) {
            objects.add(object(
                    "phase",
                    step.phase(),
                    "step",
                    step.number(),
                    "transfers",
                    step.transfers().stream()
                            .map(transfer -> object(
                                    "from",
                                    transfer.from(),
                                    "to",
                                    transfer.to(),
                                    "chunk",
                                    transfer.chunk(),
                                    "values",
                                    list(transfer.values())))
                            .toList(),
                    "vectors",
                    list(step.after())));
        }
        objects.add(object("result", list(trace.result())));
        return objects;
    }

    private static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return object;
    }
}
