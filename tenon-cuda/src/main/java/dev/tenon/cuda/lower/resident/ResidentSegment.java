package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import java.util.List;
import java.util.Set;

/**
 * Nodes of a plan that one resident launch does.
 *
 * @param members their indices among the plan's work, ascending
 * @param position the index at which they all run, that of a member
 * @param phases what they become
 * @param dtype of all of them
 * @param inside values that nothing else reads
 */
record ResidentSegment(
        List<Integer> members, int position, List<ResidentPhase> phases, DType dtype, Set<Value> inside) {
    ResidentSegment {
        members = List.copyOf(members);
        phases = List.copyOf(phases);
        inside = Set.copyOf(inside);
    }

    /** Elements of a head, where there is attention; else any size that kernels are compiled for. */
    int head() {
        return phases.stream()
                .mapToInt(phase -> phase.sizes().head())
                .filter(size -> size > 0)
                .findFirst()
                .orElse(32);
    }
}
