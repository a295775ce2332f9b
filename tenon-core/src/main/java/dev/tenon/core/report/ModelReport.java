package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * What a compiled model holds and how it runs.
 *
 * @param weightBytes prepared constants; what is used where it lies in a mapped file counts nothing
 * @param plans the plans in the cache, the most recently used one last
 */
public record ModelReport(String graph, String target, DeviceInfo device, long weightBytes, List<PlanReport> plans) {
    public ModelReport {
        Require.nonNull(graph, "graph");
        Require.nonNull(target, "target");
        Require.nonNull(device, "device");
        plans = List.copyOf(Require.elements(plans, "plans"));
    }

    /** What making the plans in the cache took. */
    public double planMillis() {
        return plans.stream().mapToDouble(PlanReport::millis).sum();
    }
}
