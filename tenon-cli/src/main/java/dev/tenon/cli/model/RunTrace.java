package dev.tenon.cli.model;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Output;
import dev.tenon.core.report.RunProfile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A profile in the trace event format, which Perfetto (ui.perfetto.dev) and Chrome open: one track for the run, one for
 * each of the things that worked side by side. Times are microseconds.
 */
public final class RunTrace {
    private static final int PROCESS = 1;

    private final List<Map<String, Object>> events = new ArrayList<>();
    private final Map<String, Integer> tracks = new LinkedHashMap<>();

    private RunTrace() {}

    /**
     * Writes a profile to a file.
     *
     * @param title of the whole: which model ran where
     */
    public static void write(Path file, String title, RunProfile profile) throws IOException {
        Output.write(file, json(title, profile));
    }

    static String json(String title, RunProfile profile) {
        RunTrace trace = new RunTrace();
        trace.label("process_name", 0, title);
        trace.slice(new RunProfile.Span("run", "run", 0, profile.micros()), Map.of());
        for (RunProfile.Step step : profile.steps()) {
            trace.slice(step.span(), arguments(step));
        }
        profile.spans().forEach(span -> trace.slice(span, Map.of()));
        trace.tracks.forEach((name, number) -> trace.label("thread_name", number, name));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("displayTimeUnit", "ns");
        all.put("traceEvents", trace.events);
        StringWriter text = new StringWriter();
        Json.print(new PrintWriter(text), all);
        return text.toString();
    }

    private static Map<String, Object> arguments(RunProfile.Step step) {
        Map<String, Object> arguments = new LinkedHashMap<>();
        arguments.put("op", step.report().op());
        arguments.put("tier", step.report().tier());
        arguments.put("types", step.report().types());
        arguments.put("bytes", step.report().cost().bytes());
        arguments.put("operations", step.report().cost().operations());
        return arguments;
    }

    private void slice(RunProfile.Span span, Map<String, Object> arguments) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("name", span.name());
        event.put("cat", span.track());
        event.put("ph", "X");
        event.put("ts", span.start());
        event.put("dur", span.micros());
        event.put("pid", PROCESS);
        event.put("tid", tracks.computeIfAbsent(span.track(), _ -> tracks.size() + 1));
        event.put("args", arguments);
        events.add(event);
    }

    private void label(String what, int track, String name) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("name", what);
        event.put("ph", "M");
        event.put("pid", PROCESS);
        event.put("tid", track);
        event.put("args", Map.of("name", name));
        events.add(event);
    }
}
