package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * Where the time of one run went. Times are microseconds since the run began.
 *
 * @param micros the whole run, as its caller saw it
 * @param steps in the order they ran; a loop's body once a turn
 * @param spans what else took time: copies, the host's calls, workers' shares of steps
 */
public record RunProfile(double micros, List<Step> steps, List<Span> spans) {
    public RunProfile {
        steps = List.copyOf(Require.elements(steps, "steps"));
        spans = List.copyOf(Require.elements(spans, "spans"));
    }

    /**
     * A step that ran.
     *
     * @param report what it is
     * @param span when and where it ran
     */
    public record Step(StepReport report, Span span) {
        public Step {
            Require.nonNull(report, "report");
            Require.nonNull(span, "span");
        }
    }

    /**
     * A stretch of time.
     *
     * @param track which of the things that work side by side it was: {@code cpu}, {@code gpu}, {@code copies},
     *     {@code host}, {@code worker 1}
     * @param name what was done
     * @param start when it began
     * @param micros how long it took
     */
    public record Span(String track, String name, double start, double micros) {
        public Span {
            Require.nonNull(track, "track");
            Require.nonNull(name, "name");
        }

        /** When it ended. */
        public double end() {
            return start + micros;
        }
    }

    /** What the steps took together. */
    public double stepMicros() {
        return steps.stream().mapToDouble(step -> step.span().micros()).sum();
    }
}
