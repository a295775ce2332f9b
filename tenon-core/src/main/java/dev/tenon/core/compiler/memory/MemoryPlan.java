package dev.tenon.core.compiler.memory;

import dev.tenon.core.ir.Numbering;
import dev.tenon.core.ir.Value;
import java.util.List;

/**
 * A place for every value of a plan's graph.
 *
 * <p>A backend may rely on this: an output of a node never overlaps one of its inputs, but for two cases. The output of
 * a {@link MemoryPlanner#isView view} has its input's place, and the backend does nothing for it. The output of an
 * {@link MemoryPlanner#mayOverwrite elementwise} node may have exactly the place of an input with the same shape and
 * element width, so such kernels must read an element before they write it.
 *
 * @param numbering of the graph's values
 * @param placements by the values' numbers
 * @param arenaBytes size of the arena
 * @param unplannedBytes what the arena would take if no two values shared memory
 */
public record MemoryPlan(Numbering numbering, List<Placement> placements, long arenaBytes, long unplannedBytes) {
    /** Every offset is a multiple of this many bytes. */
    public static final int ALIGNMENT = 64;

    public MemoryPlan {
        placements = List.copyOf(placements);
    }

    /**
     * The place of a value of the graph.
     *
     * @throws IllegalArgumentException for a value of another graph
     */
    public Placement of(Value value) {
        return placements.get(numbering.of(value));
    }
}
