package dev.tenon.cuda.lower.step;

import java.util.List;
import java.util.function.LongFunction;

/**
 * A step of launches in order that are written down when it is made. Immutable.
 *
 * @param tier names the implementation
 * @param calls in the order that they are enqueued
 * @param workspaceBytes bytes of workspace that they use
 * @param counterBytes bytes of zeroed counters that they use
 * @param faults what a reported value means
 */
public record CallsStep(
        String tier, List<KernelCall> calls, long workspaceBytes, long counterBytes, LongFunction<String> faults)
        implements GpuStep {
    public CallsStep {
        calls = List.copyOf(calls);
    }

    /** A step of calls that report no faults and need no counters. */
    public static CallsStep of(String tier, long workspaceBytes, KernelCall... calls) {
        return new CallsStep(tier, List.of(calls), workspaceBytes, 0, value -> "the value " + value + " has no result");
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (int i = 0; i < calls.size(); i++) {
            calls.get(i).enqueue(frame);
        }
    }

    @Override
    public String fault(long value) {
        return faults.apply(value);
    }
}
