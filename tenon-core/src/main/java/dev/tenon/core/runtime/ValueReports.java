package dev.tenon.core.runtime;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.error.Text;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.report.ValueReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a plan for a report: which step writes each value, which read it. Views are no steps: they count as what they
 * show.
 */
final class ValueReports {
    private final Plan plan;
    private final Map<Value, Value> roots = new LinkedHashMap<>();
    private final Map<Value, Integer> producers = new LinkedHashMap<>();
    private final Map<Value, List<Integer>> consumers = new LinkedHashMap<>();

    private ValueReports(Plan plan) {
        this.plan = plan;
        plan.graph().inputs().forEach(input -> producers.put(input, -1));
        plan.graph().constants().forEach(constant -> producers.put(constant, -1));
        int step = 0;
        for (Node node : plan.graph().nodes()) {
            boolean view = MemoryPlanner.isView(node.op());
            for (Value output : node.outputs()) {
                roots.put(output, view ? root(node.input(0)) : output);
                if (!view) {
                    producers.put(output, step);
                }
            }
            if (!view) {
                for (Value input : node.inputs()) {
                    consumers
                            .computeIfAbsent(root(input), key -> new ArrayList<>())
                            .add(step);
                }
                step++;
            }
        }
    }

    private Value root(Value value) {
        return roots.getOrDefault(value, value);
    }

    static List<ValueReport> of(Plan plan) {
        ValueReports reports = new ValueReports(plan);
        List<ValueReport> all = new ArrayList<>();
        reports.producers.forEach((value, producer) -> all.add(reports.report(value, producer)));
        return all;
    }

    private ValueReport report(Value value, int producer) {
        Placement placement = plan.memory().of(value);
        String place = switch (placement) {
            case Placement.Input _ -> "input";
            case Placement.Output _ -> "output";
            case Placement.Constant _ -> "constant";
            case Placement.Arena _ -> "arena";
        };
        long offset = placement instanceof Placement.Arena(long start, long _) ? start : 0;
        return new ValueReport(
                Text.name(value.name()),
                value.type().toString(),
                place,
                offset,
                value.type().bytes(),
                producer,
                consumers.getOrDefault(value, List.of()));
    }
}
