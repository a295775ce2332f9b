package dev.tenon.core.backend;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Value;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

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

    /** The numbers of the values that lie at each of {@code count} places: a value and its views share one. */
    public int[][] at(int count, IntFunction<Placement> place) {
        int[][] found = new int[count][0];
        Placement[] places = new Placement[count];
        Arrays.setAll(places, place);
        for (int number = 0; number < placements.size(); number++) {
            note(number, placements.get(number), places, found);
        }
        return found;
    }

    private static void note(int number, Placement placement, Placement[] places, int[][] found) {
        boolean shared = placement instanceof Placement.Input || placement instanceof Placement.Output;
        for (int i = 0; shared && i < places.length; i++) {
            if (places[i].equals(placement)) {
                found[i] = Arrays.copyOf(found[i], found[i].length + 1);
                found[i][found[i].length - 1] = number;
            }
        }
    }
}
