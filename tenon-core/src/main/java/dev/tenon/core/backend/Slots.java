package dev.tenon.core.backend;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Value;
import java.util.Arrays;
import java.util.List;

/**
 * Numbers for the values of a plan: inputs, constants, then results in the order of nodes. Views have numbers of their
 * own. Immutable.
 */
public final class Slots {
    private final Numbering numbering;
    private final List<Placement> placements;

    private Slots(Plan plan) {
        this.numbering = plan.graph().numbering();
        this.placements = plan.memory().placements();
    }

    public static Slots of(Plan plan) {
        return new Slots(plan);
    }

    /**
     * The number of a value.
     *
     * @throws IllegalArgumentException for one of another plan, which is a fault of the backend
     */
    public int of(Value value) {
        return numbering.of(value);
    }

    /** The values, by number. */
    public List<Value> values() {
        return numbering.values();
    }

    /** Where each value lies, by number. */
    public List<Placement> placements() {
        return placements;
    }

    /** Where an operand of a node lies, which is given by its place in the graph. */
    public Placement placementOf(int step, int input) {
        return placements.get(numbering.operand(step, input));
    }

    /** The numbers of the values that lie in each of so many inputs: its own and those of its views. */
    public int[][] inputs(int count) {
        return grouped(count, true);
    }

    /** The numbers of the values that lie in each of so many outputs: its own and those of its views. */
    public int[][] outputs(int count) {
        return grouped(count, false);
    }

    private int[][] grouped(int count, boolean ofInputs) {
        int[][] found = new int[count][0];
        for (int number = 0; number < placements.size(); number++) {
            int index = index(placements.get(number), ofInputs);
            if (index >= 0) {
                found[index] = Arrays.copyOf(found[index], found[index].length + 1);
                found[index][found[index].length - 1] = number;
            }
        }
        return found;
    }

    /** The index of an input, or of an output; -1 for any other place. */
    private static int index(Placement placement, boolean ofInputs) {
        if (ofInputs) {
            return placement instanceof Placement.Input input ? input.index() : -1;
        }
        return placement instanceof Placement.Output output ? output.index() : -1;
    }
}
