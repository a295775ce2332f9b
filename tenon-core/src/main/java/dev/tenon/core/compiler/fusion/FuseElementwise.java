package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.normalisation.Softmax;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * {@code f(g(x), h(y)) → region{g; h; f}(x, y)}: elementwise nodes that feed only one another become one pass over
 * memory. A node joins the group of its consumers when all of them are in one group and it has the group's shape; so
 * the result of a region is that of its last node, and no path can leave a region and come back.
 */
public final class FuseElementwise implements Pass {
    static final int MAX_STEPS = 64;
    static final int MAX_INPUTS = 16;

    /** Nodes in reverse order while it grows: the first is the one whose result leaves the region. */
    private static final class Group {
        final List<Node> members = new ArrayList<>();
        final Set<Value> inputs = new LinkedHashSet<>();

        void add(Node node) {
            members.add(node);
            inputs.remove(node.output());
            inputs.addAll(node.inputs());
        }

        boolean takes(Node node) {
            if (!members.getFirst().output().shape().equals(node.output().shape())) {
                return false;
            }
            Set<Value> after = new HashSet<>(inputs);
            after.remove(node.output());
            after.addAll(node.inputs());
            return members.size() < MAX_STEPS && after.size() <= MAX_INPUTS;
        }
    }

    private final boolean ahead;

    private FuseElementwise(boolean ahead) {
        this.ahead = ahead;
    }

    /** Fuses all that can be. */
    public static FuseElementwise ofPlan() {
        return new FuseElementwise(false);
    }

    /** Leaves what stands beside a softmax, of which sizes may yet make an attention. */
    public static FuseElementwise ahead() {
        return new FuseElementwise(true);
    }

    /** Stands for consumers that are in no group, or in several. */
    private static final Group OUTSIDE = new Group();

    @Override
    public String name() {
        return "fuse-elementwise";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        if (!hasElementwise(graph)) {
            return graph;
        }
        Map<Node, Group> groups = group(graph, ahead ? besideSoftmax(graph) : Set.of());
        Map<Node, Region> regions = new HashMap<>();
        groups.forEach((node, group) -> {
            if (group.members.size() > 1 && group.members.getFirst().equals(node)) {
                regions.put(node, region(group));
            }
        });
        if (regions.isEmpty()) {
            return graph;
        }
        Graph fused = Rewriter.rewrite(graph, (node, into) -> {
            Region region = regions.get(node);
            if (region == null) {
                return null;
            }
            Group group = Objects.requireNonNull(groups.get(node));
            return into.addAll(region, into.map(List.copyOf(group.inputs)));
        });
        return new DeadCode().apply(fused, context);
    }

    /** The elementwise nodes between the products of an attention and its softmax. */
    private static Set<Node> besideSoftmax(Graph graph) {
        Set<Node> beside = new HashSet<>();
        Set<Value> scores = new HashSet<>();
        for (Node node : graph.nodes().reversed()) {
            boolean before = isElementwise(node) && scores.contains(node.output());
            if (before) {
                beside.add(node);
            }
            if (before || node.op() instanceof Softmax) {
                scores.addAll(node.inputs());
            }
        }
        Set<Value> weights = new HashSet<>();
        for (Node node : graph.nodes()) {
            boolean after = isElementwise(node) && node.inputs().stream().anyMatch(weights::contains);
            if (after) {
                beside.add(node);
            }
            if (after || node.op() instanceof Softmax) {
                weights.add(node.output());
            }
        }
        return beside;
    }

    private static Map<Node, Group> group(Graph graph, Set<Node> left) {
        Map<Value, Group> consumers = HashMap.newHashMap(2 * graph.nodes().size());
        Map<Node, Group> groups = new LinkedHashMap<>();
        for (Node node : graph.nodes().reversed()) {
            Group group = OUTSIDE;
            if (isElementwise(node) && !left.contains(node)) {
                Group common =
                        graph.uses().isOutput(node.output()) ? OUTSIDE : consumers.getOrDefault(node.output(), OUTSIDE);
                group = common != OUTSIDE && common.takes(node) ? common : new Group();
                group.add(node);
                groups.put(node, group);
            }
            for (Value input : node.inputs()) {
                Group own = group;
                consumers.merge(input, own, (before, _) -> before == own ? own : OUTSIDE);
            }
        }
        return groups;
    }

    private static boolean hasElementwise(Graph graph) {
        for (Node node : graph.nodes()) {
            if (isElementwise(node)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isElementwise(Node node) {
        return node.op() instanceof Elementwise && node.output().shape().isKnown();
    }

    private static Region region(Group group) {
        Map<Value, Integer> positions = new HashMap<>();
        group.inputs.forEach(value -> positions.put(value, positions.size()));
        List<Region.Step> steps = new ArrayList<>();
        for (Node node : group.members.reversed()) {
            List<Integer> arguments = node.inputs().stream()
                    .map(value -> Objects.requireNonNull(positions.get(value)))
                    .toList();
            steps.add(new Region.Step((Elementwise) node.op(), arguments));
            positions.put(node.output(), group.inputs.size() + steps.size() - 1);
        }
        return new Region(steps, List.of(steps.size() - 1));
    }
}
