package dev.tenon.cuda.lower.step;

import java.util.List;
import java.util.function.LongFunction;

/**
 * A step of launches, one after the other.
 *
 * @param faults what a value that a kernel reported means, in words
 */
public record LaunchStep(String tier, List<PreparedLaunch> launches, long workspaceBytes, LongFunction<String> faults)
        implements GpuStep {
    public LaunchStep {
        launches = List.copyOf(launches);
    }

    /** One without workspace, whose kernel reports no faults. */
    public static LaunchStep of(String tier, PreparedLaunch launch) {
        return of(tier, List.of(launch), 0);
    }

    /** One whose kernels report no faults. */
    public static LaunchStep of(String tier, List<PreparedLaunch> launches, long workspaceBytes) {
        return new LaunchStep(tier, launches, workspaceBytes, value -> "the value " + value + " has no result");
    }

    /** The same step with words for faults. */
    public LaunchStep withFaults(LongFunction<String> words) {
        return new LaunchStep(tier, launches, workspaceBytes, words);
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (PreparedLaunch launch : launches) {
            launch.enqueue(frame);
        }
    }

    @Override
    public String fault(long value) {
        return faults.apply(value);
    }
}
