package dev.tenon.core.runtime;

import dev.tenon.core.backend.Program;
import dev.tenon.core.backend.RunObserver;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.report.StepReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Collects what a run does into a profile. Thread-safe. */
final class RunRecorder implements RunObserver {
    private record Step(Program program, int index, String track, long start, long end) {}

    private final long begin = System.nanoTime();
    private final List<Step> steps = new ArrayList<>();
    private final List<RunProfile.Span> spans = new ArrayList<>();

    @Override
    public synchronized void step(Program program, int index, String track, long startNanos, long endNanos) {
        steps.add(new Step(program, index, track, startNanos, endNanos));
    }

    @Override
    public synchronized void span(String track, String name, long startNanos, long endNanos) {
        spans.add(spanned(track, name, startNanos, endNanos));
    }

    /** Of the run that ends now. */
    synchronized RunProfile profile() {
        double micros = micros(System.nanoTime() - begin);
        Map<Program, List<StepReport>> reports = new HashMap<>();
        List<RunProfile.Step> told = new ArrayList<>();
        for (Step step : steps) {
            StepReport report =
                    reports.computeIfAbsent(step.program, Program::steps).get(step.index);
            told.add(new RunProfile.Step(report, spanned(step.track, name(report), step.start, step.end)));
        }
        told.sort(Comparator.comparingDouble(step -> step.span().start()));
        List<RunProfile.Span> others = new ArrayList<>();
        for (RunProfile.Span span : spans) {
            others.add(
                    span.name().isEmpty()
                            ? new RunProfile.Span(span.track(), stepAt(told, span.start()), span.start(), span.micros())
                            : span);
        }
        return new RunProfile(micros, told, others);
    }

    private static String name(StepReport report) {
        return report.node().isEmpty() ? report.op() : report.op() + " " + report.node();
    }

    /** The name of the last step that had begun by then. */
    private static String stepAt(List<RunProfile.Step> steps, double start) {
        int low = 0;
        int high = steps.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (steps.get(middle).span().start() <= start) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == 0 ? "" : steps.get(low - 1).span().name();
    }

    private RunProfile.Span spanned(String track, String name, long start, long end) {
        return new RunProfile.Span(track, name, micros(start - begin), micros(end - start));
    }

    private static double micros(long nanos) {
        return nanos / 1e3;
    }
}
