package dev.tenon.cuda.backend;

import dev.tenon.core.options.Execution;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.schedule.StepUse;
import dev.tenon.cuda.schedule.StreamSchedule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Steps one behind the other that are alike in whether they can be recorded. Each begins on the session's first stream
 * and ends there. Immutable.
 *
 * @param from the first step
 * @param end the step behind the last
 * @param recorded whether they are: a single step is launched as fast by itself, unless it is all that there is
 * @param schedule of the steps from {@code from} on; null where one stream runs them in order
 */
record Stretch(
        int from, int end, boolean recorded, @Nullable StreamSchedule schedule) {
    /**
     * Cuts a program into stretches.
     *
     * @param uses what each step does to memory; nothing where there is one stream
     */
    static List<Stretch> of(List<GpuStep> steps, List<StepUse> uses, Execution execution) {
        if (execution.equals(Execution.stream())) {
            return List.of(new Stretch(0, steps.size(), false, null));
        }
        List<Stretch> stretches = new ArrayList<>();
        int from = 0;
        while (from < steps.size()) {
            boolean recordable = steps.get(from).recordable();
            int end = from + 1;
            while (end < steps.size() && steps.get(end).recordable() == recordable) {
                end++;
            }
            boolean recorded = execution.recorded() && recordable && (end - from > 1 || steps.size() == 1);
            stretches.add(new Stretch(
                    from, end, recorded, recordable ? schedule(uses, from, end, execution.streams()) : null));
            from = end;
        }
        return List.copyOf(stretches);
    }

    private static @Nullable StreamSchedule schedule(List<StepUse> uses, int from, int end, int streams) {
        if (streams == 1) {
            return null;
        }
        StreamSchedule schedule = StreamSchedule.of(uses.subList(from, end), streams);
        return schedule.streams() == 1 ? null : schedule;
    }

    /** How many streams it runs on. */
    int streams() {
        return schedule == null ? 1 : schedule.streams();
    }

    /** How many events its streams wait for. */
    int marks() {
        return schedule == null ? 0 : schedule.marks();
    }

    /** The stream that each step runs on, from {@code from} on. */
    int[] streamOfSteps() {
        int[] streams = new int[end - from];
        if (schedule != null) {
            schedule.entries().forEach(entry -> streams[entry.step()] = entry.stream());
        }
        return streams;
    }
}
