package dev.tenon.cuda.lower.resident;

import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.Placement;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the segments of a plan. Used for one plan. */
final class ResidentSegments {
    /** Nodes between members that are not members themselves. */
    private static final int MOST_OTHERS = 8;

    /** Tokens of a sequence whose attention every block makes by itself. */
    private static final long FEW_KEYS = 16;

    private final Plan plan;
    private final List<Node> work;
    private final Map<Value, Set<Node>> readers = new HashMap<>();
    /** By the number of a node: the phase that it is by itself. */
    private final @Nullable ResidentPhase[] alone;

    private final Set<Value> outputs = new HashSet<>();

    ResidentSegments(Plan plan) {
        this.plan = plan;
        this.work = plan.work();
        for (Node node : work) {
            node.inputs()
                    .forEach(input -> readers.computeIfAbsent(ResidentNodes.root(input), _ -> new LinkedHashSet<>())
                            .add(node));
        }
        this.alone = new @Nullable ResidentPhase[work.size()];
        for (int i = 0; i < alone.length; i++) {
            alone[i] = ResidentNodes.phase(work.get(i));
        }
        plan.graph().outputs().values().forEach(output -> outputs.add(ResidentNodes.root(output)));
    }

    /** All segments of more than one node, in order. */
    List<ResidentSegment> all() {
        List<ResidentSegment> found = new ArrayList<>();
        int from = 0;
        while (from < work.size()) {
            ResidentPhase first = alone[from];
            List<Integer> members = first == null ? List.of() : members(from, first);
            ResidentSegment segment = members.size() > 1 ? segment(members) : null;
            if (segment != null) {
                found.add(segment);
            }
            // without its first node a segment may be safe, or all of its nodes may stand together
            from = segment == null ? from + 1 : members.getLast() + 1;
        }
        return found;
    }

    /** The nodes from one on that phases are made of, and that go through as many rows. */
    private List<Integer> members(int from, ResidentPhase first) {
        List<Integer> members = new ArrayList<>(List.of(from));
        Set<Value> made = new HashSet<>(work.get(from).outputs());
        int head = first.sizes().head();
        int others = 0;
        for (int i = from + 1; i < work.size() && others <= MOST_OTHERS; i++) {
            Node node = work.get(i);
            ResidentPhase phase = alone[i];
            boolean fits = phase != null
                    && isAlike(phase, first, head)
                    && ResidentNodes.dtype(node) == ResidentNodes.dtype(work.get(from));
            if (fits || widens(node, made)) {
                members.add(i);
                made.addAll(node.outputs());
                head = phase == null ? head : Math.max(head, phase.sizes().head());
                others = 0;
            } else if (node.inputs().stream().anyMatch(input -> made.contains(ResidentNodes.root(input)))) {
                break;
            } else {
                others++;
            }
        }
        return members;
    }

    /** Whether a phase has as many rows as the first one, and heads as there were before. */
    private static boolean isAlike(ResidentPhase phase, ResidentPhase first, int head) {
        return phase.sizes().rows() == first.sizes().rows()
                && (head == 0 || phase.sizes().head() == 0 || phase.sizes().head() == head);
    }

    /** Whether a node makes f32 of a norm that nothing else reads. */
    private boolean widens(Node node, Set<Value> made) {
        if (!(node.op() instanceof Cast(DType to, boolean _)) || to != DType.F32) {
            return false;
        }
        Value halves = ResidentNodes.root(node.input(0));
        ResidentPhase norm = made.contains(halves) ? phaseOf(halves) : null;
        return norm != null && norm.kind() == Kind.NORM && isOnlyFor(halves, node);
    }

    private static @Nullable ResidentPhase phaseOf(Value result) {
        return result.origin() instanceof Value.Origin.Result(Node node, int _) ? ResidentNodes.phase(node) : null;
    }

    private boolean isOnlyFor(Value value, Node reader) {
        return readers.getOrDefault(value, Set.of()).equals(Set.of(reader)) && !isOutput(value);
    }

    private boolean isOutput(Value value) {
        return outputs.contains(value);
    }

    private @Nullable ResidentSegment segment(List<Integer> members) {
        Set<Node> nodes = new HashSet<>();
        members.forEach(index -> nodes.add(work.get(index)));
        Set<Value> inside = new HashSet<>();
        for (Node node : nodes) {
            for (Value output : node.outputs()) {
                if (!isOutput(output) && nodes.containsAll(readers.getOrDefault(output, Set.of()))) {
                    inside.add(output);
                }
            }
        }
        int position = position(members);
        ResidentSegment segment = new ResidentSegment(
                members, position, phases(members), ResidentNodes.dtype(work.get(members.getFirst())), inside);
        return isSafe(segment, nodes) ? segment : null;
    }

    /** The first member behind all nodes that stand between members. */
    private static int position(List<Integer> members) {
        int position = members.getFirst();
        for (int i = 1; i < members.size(); i++) {
            position = members.get(i) > members.get(i - 1) + 1 ? members.get(i) : position;
        }
        return position;
    }

    private List<ResidentPhase> phases(List<Integer> members) {
        List<ResidentPhase> phases = new ArrayList<>();
        for (int index : members) {
            Node node = work.get(index);
            ResidentPhase last = phases.isEmpty() ? null : phases.getLast();
            ResidentPhase own = alone[index];
            if (own == null && last != null) {
                phases.removeLast();
                phases.add(last.widened(node.output()));
                continue;
            }
            if (own == null) {
                throw new IllegalStateException(node + " begins a segment");
            }
            ResidentPhase joined = last == null ? null : joined(last, own, node);
            if (joined != null) {
                phases.removeLast();
            }
            phases.add(joined == null ? own : joined);
        }
        return phases;
    }

    /** A product that makes its rows by itself, as the phase before it would; null where it does not. */
    private @Nullable ResidentPhase joined(ResidentPhase last, ResidentPhase own, Node node) {
        Value rows = last.at().y();
        if (own.kind() != Kind.PRODUCT || own.at().x() != rows || own.at().residual() == rows) {
            return null;
        }
        if (last.kind() == Kind.NORM) {
            return own.reading(Rows.NORM, last, isOnlyFor(rows, node) ? null : rows);
        }
        boolean few = last.kind() == Kind.ATTENTION
                && last.sizes().keys() <= FEW_KEYS
                && (last.sizes().keys() == FEW_KEYS
                        || last.sizes().rows() == last.sizes().keys())
                && isOnlyFor(rows, node);
        return few ? own.reading(Rows.ATTENTION, last, null) : null;
    }

    /**
     * Whether all members can run at one position: no result that outlives the launch may lie where something lies that
     * the launch reads, and neither may what nodes between members make.
     */
    private boolean isSafe(ResidentSegment segment, Set<Node> nodes) {
        Set<Value> read = new HashSet<>();
        Set<Value> written = new HashSet<>();
        for (Node node : nodes) {
            for (Value shown : node.inputs()) {
                Value input = ResidentNodes.root(shown);
                if (!(input.origin() instanceof Value.Origin.Result(Node made, int _) && nodes.contains(made))) {
                    read.add(input);
                }
            }
            for (Value output : node.outputs()) {
                if (!segment.inside().contains(output)) {
                    written.add(output);
                }
            }
        }
        for (int i = segment.members().getFirst(); i < segment.position(); i++) {
            if (!nodes.contains(work.get(i))) {
                written.addAll(work.get(i).outputs());
            }
        }
        for (Value one : written) {
            for (Value other : read) {
                if (one != other && overlap(one, other)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean overlap(Value one, Value other) {
        return plan.memory().of(one) instanceof Placement.Arena(long at, long bytes)
                && plan.memory().of(other) instanceof Placement.Arena(long from, long length)
                && at < from + length
                && from < at + bytes;
    }
}
