package dev.tenon.core.report;

import dev.tenon.core.error.Require;
import dev.tenon.core.error.Text;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One step of a program.
 *
 * @param op the operation's mnemonic
 * @param node the name the model gave it, as {@link Text#name} shows it
 * @param types inputs and outputs in short: {@code f32[2,3] f32[3,4] -> f32[2,4]}
 * @param tier which implementation runs it
 * @param passedOver each tier before it in the ladder, with the reason it was not taken
 * @param cost what it must move and compute at least
 */
public record StepReport(String op, String node, String types, String tier, List<String> passedOver, StepCost cost) {
    /** What the tier of a step begins with that the host runs for the device. */
    public static final String HOST_TIER = "host: ";

    public StepReport {
        Require.nonNull(op, "op");
        Require.nonNull(node, "node");
        Require.nonNull(types, "types");
        Require.nonNull(tier, "tier");
        Require.nonNull(cost, "cost");
        passedOver = List.copyOf(Require.elements(passedOver, "passedOver"));
    }

    /** Whether the host runs it for the device. */
    public boolean onHost() {
        return tier.startsWith(HOST_TIER);
    }

    /** The report of a node's step. */
    public static StepReport of(Node node, String tier, List<String> passedOver) {
        Require.nonNull(node, "node");
        String types = types(node.inputs()) + " -> " + types(node.outputs());
        return new StepReport(node.op().mnemonic(), Text.name(node.name()), types, tier, passedOver, StepCost.of(node));
    }

    private static String types(List<Value> values) {
        return values.stream().map(value -> value.type().toString()).collect(Collectors.joining(" "));
    }
}
