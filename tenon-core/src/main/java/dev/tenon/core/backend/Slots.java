package dev.tenon.core.backend;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Numbers for the values of a plan: inputs, constants, then results in the order of nodes. Views have numbers of their
 * own. Immutable.
 */
public final class Slots {
    private final List<Value> values;
    private final List<Placement> placements;
    private final Map<Value, Integer> numbers = new HashMap<>();

    private Slots(List<Value> values, List<Placement> placements) {
        this.values = List.copyOf(values);
        this.placements = List.copyOf(placements);
        for (Value value : values) {
            numbers.put(value, numbers.size());
        }
    }

    public static Slots of(Plan plan) {
        Graph graph = plan.graph();
        List<Value> values = new ArrayList<>(graph.inputs());
        values.addAll(graph.constants());
        graph.nodes().forEach(node -> values.addAll(node.outputs()));
        return new Slots(values, values.stream().map(plan.memory()::of).toList());
    }

    /**
     * The number of a value.
     *
     * @throws IllegalArgumentException for one of another plan, which is a fault of the backend
     */
    public int of(Value value) {
        Integer number = numbers.get(value);
        if (number == null) {
            throw new IllegalArgumentException(value + " is not of this plan");
        }
        return number;
    }

    /** The values, by number. */
    public List<Value> values() {
        return values;
    }

    /** Where each value lies, by number. */
    public List<Placement> placements() {
        return placements;
    }

    /** The numbers of the values that lie at each of {@code count} places: a value and its views share one. */
    public int[][] at(int count, IntFunction<Placement> place) {
        return IntStream.range(0, count).mapToObj(i -> at(place.apply(i))).toArray(int[][]::new);
    }

    private int[] at(Placement place) {
        return IntStream.range(0, placements.size())
                .filter(i -> placements.get(i).equals(place))
                .toArray();
    }
}
