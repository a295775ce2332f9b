package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * One compiled plan.
 *
 * @param inputs the types that it was made for, with the inputs' names
 * @param steps in the order they run
 * @param values every value between them, inputs and constants first
 * @param arenaBytes the session's memory for values between steps
 * @param unplannedBytes what that memory would be if no two values shared any
 * @param workspaceBytes what steps work in beside it
 * @param millis what making it took: passes, the memory plan, steps and the constants that they prepare
 * @param saved whether a plan that an earlier process had saved was loaded, and why not; empty for a plan that was not
 *     made ahead of time, and on devices that save none
 * @param continues whether values of this run decide about a further plan
 */
public record PlanReport(
        List<String> inputs,
        List<StepReport> steps,
        List<ValueReport> values,
        long arenaBytes,
        long unplannedBytes,
        long workspaceBytes,
        double millis,
        String saved,
        boolean continues) {
    public PlanReport {
        Require.nonNull(saved, "saved");
        inputs = List.copyOf(Require.elements(inputs, "inputs"));
        steps = List.copyOf(Require.elements(steps, "steps"));
        values = List.copyOf(Require.elements(values, "values"));
    }
}
