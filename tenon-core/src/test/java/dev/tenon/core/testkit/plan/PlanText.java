package dev.tenon.core.testkit.plan;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.Stage;
import dev.tenon.core.compiler.memory.MemoryPlan;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Value;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A plan in words: steps in their order with what they read and write, types, constants and places. Two plans are the
 * same where the words are. Values have numbers, since their names say nothing about a run.
 */
public final class PlanText {
    private PlanText() {}

    public static String of(Stage stage) {
        Stage.Rest rest = stage.rest();
        return of(stage.plan()) + (rest == null ? "" : "\nthen " + rest.graph());
    }

    private static String of(Plan plan) {
        Graph graph = plan.graph();
        Numbering numbering = graph.numbering();
        MemoryPlan memory = plan.memory();
        StringBuilder text = new StringBuilder("arena " + memory.arenaBytes() + " of " + memory.unplannedBytes());
        for (int number = 0; number < numbering.values().size(); number++) {
            Value value = numbering.values().get(number);
            ConstantData data = value.constant();
            text.append("\n%")
                    .append(number)
                    .append(' ')
                    .append(value.type())
                    .append(' ')
                    .append(memory.placements().get(number))
                    .append(data == null ? "" : " = " + of(data));
        }
        for (Node node : graph.nodes()) {
            text.append('\n')
                    .append(node.outputs().stream().map(numbering::of).toList())
                    .append(" = ")
                    .append(node.op())
                    .append(node.inputs().stream().map(numbering::of).toList())
                    .append(" @")
                    .append(node.name());
        }
        return text + "\n"
                + graph.outputs().entrySet().stream()
                        .map(output -> output.getKey() + " %" + numbering.of(output.getValue()))
                        .collect(Collectors.joining(", "));
    }

    private static String of(ConstantData data) {
        return switch (data) {
            case ConstantData.Splat splat -> "all " + splat.element();
            case ConstantData.Dense dense -> {
                MemorySegment segment = dense.segment();
                yield segment.isMapped() // of a file
                        ? "at " + segment.address() + " " + segment.byteSize()
                        : "elements " + Arrays.hashCode(segment.toArray(ValueLayout.JAVA_BYTE));
            }
        };
    }
}
