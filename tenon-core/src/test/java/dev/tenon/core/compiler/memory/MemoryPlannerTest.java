package dev.tenon.core.compiler.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.PassesTest;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.testkit.RandomGraphs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class MemoryPlannerTest {
    @Test
    void neverOverwritesWhatIsStillNeeded() {
        for (long seed = 0; seed < 300; seed++) {
            Plan plan = PassesTest.plan(
                    RandomGraphs.graph(seed), CompilerOptions.defaults().withOptimise(seed % 2 == 0));
            checkNoLiveValueIsOverwritten(plan);
            assertThat(plan.memory().arenaBytes())
                    .isLessThanOrEqualTo(plan.memory().unplannedBytes());
        }
    }

    @Test
    void stepsThatMayRunTogetherShareNothing() {
        for (long seed = 0; seed < 300; seed++) {
            Graph graph = PassesTest.plan(
                            RandomGraphs.graph(seed), CompilerOptions.defaults().withOptimise(seed % 2 == 0))
                    .graph();
            MemoryPlan plan = MemoryPlanner.plan(graph, MemoryPlanner.Sharing.IN_ANY_ORDER);
            checkNoLiveValueIsOverwritten(new Plan(graph, plan));
            assertThat(plan.arenaBytes()).isBetween(MemoryPlanner.plan(graph).arenaBytes() / 2, plan.unplannedBytes());
            for (int late = 0; late < graph.nodes().size(); late++) {
                for (int early = 0; early < late; early++) {
                    if (!dependsOn(graph, late, early)) {
                        checkApart(plan, graph.nodes().get(early), graph.nodes().get(late));
                    }
                }
            }
        }
    }

    /** Neither writes what the other reads or writes. */
    private static void checkApart(MemoryPlan plan, Node one, Node other) {
        for (Node writer : List.of(one, other)) {
            if (MemoryPlanner.isView(writer.op())) {
                continue;
            }
            Node reader = writer.equals(one) ? other : one;
            for (Value written : writer.outputs()) {
                for (Value used : Stream.concat(reader.inputs().stream(), reader.outputs().stream())
                        .toList()) {
                    if (plan.of(written) instanceof Placement.Arena a && plan.of(used) instanceof Placement.Arena b) {
                        assertThat(overlap(a, b)).as("%s and %s", written, used).isFalse();
                    }
                }
            }
        }
    }

    private static boolean dependsOn(Graph graph, int late, int early) {
        Set<Node> before = new HashSet<>();
        Node wanted = graph.nodes().get(early);
        List<Node> open = new ArrayList<>(List.of(graph.nodes().get(late)));
        while (!open.isEmpty()) {
            for (Value input : open.removeLast().inputs()) {
                if (input.origin() instanceof Value.Origin.Result(Node node, int _) && before.add(node)) {
                    open.add(node);
                }
            }
        }
        return before.contains(wanted);
    }

    /** Replays the plan, keeping for every byte range the value that was written there last. */
    private static void checkNoLiveValueIsOverwritten(Plan plan) {
        Map<Value, Value> roots = new HashMap<>();
        Map<Value, Integer> lastUse = lastUses(plan.graph(), roots);
        Map<Value, Placement.Arena> live = new HashMap<>();
        for (int step = 0; step < plan.graph().nodes().size(); step++) {
            Node node = plan.graph().nodes().get(step);
            int now = step;
            for (Value output : node.outputs()) {
                if (!MemoryPlanner.isView(node.op()) && plan.memory().of(output) instanceof Placement.Arena place) {
                    live.forEach((value, other) -> {
                        boolean needed = lastUse.get(value) >= now;
                        boolean inPlace = lastUse.get(value) == now
                                && place.equals(other)
                                && MemoryPlanner.mayOverwrite(node.op());
                        assertThat(needed && !inPlace && overlap(place, other))
                                .as("%s is written over %s in\n%s", output, value, plan.graph())
                                .isFalse();
                    });
                    assertThat(place.offset() % MemoryPlan.ALIGNMENT).isZero();
                    assertThat(place.offset() + place.bytes())
                            .isLessThanOrEqualTo(plan.memory().arenaBytes());
                    live.put(output, place);
                }
            }
            live.keySet().removeIf(value -> lastUse.get(value) <= now);
        }
    }

    private static Map<Value, Integer> lastUses(Graph graph, Map<Value, Value> roots) {
        Map<Value, Integer> lastUse = new HashMap<>();
        for (int step = 0; step < graph.nodes().size(); step++) {
            Node node = graph.nodes().get(step);
            for (Value input : node.inputs()) {
                lastUse.put(roots.getOrDefault(input, input), step);
            }
            for (Value output : node.outputs()) {
                Value root =
                        MemoryPlanner.isView(node.op()) ? roots.getOrDefault(node.input(0), node.input(0)) : output;
                roots.put(output, root);
                lastUse.put(root, step);
            }
        }
        return lastUse;
    }

    private static boolean overlap(Placement.Arena a, Placement.Arena b) {
        return a.offset() < b.offset() + b.bytes() && b.offset() < a.offset() + a.bytes();
    }

    @Test
    void chainsShareTwoBuffersOrFewer() {
        Graph graph = GraphBuilder.build("chain", g -> {
            Value x = g.input("x", DType.F32, Dim.of(16), Dim.of(16));
            Value v = x;
            for (int i = 0; i < 10; i++) {
                v = g.transpose(g.unary(UnaryFn.EXP, v), 1, 0);
            }
            g.output("y", g.relu(v));
        });
        Plan plan = PassesTest.plan(graph, CompilerOptions.defaults());
        assertThat(plan.memory().arenaBytes()).isEqualTo(2 * 16 * 16 * 4);
    }

    @Test
    void outputsHaveMemoryOfTheirOwn() {
        Graph graph = GraphBuilder.build("aliases", g -> {
            Value x = g.input("x", DType.F32, Dim.of(2), Dim.of(3));
            Value y = g.relu(x);
            g.output("input", x);
            g.output("y", y);
            g.output("again", y);
            g.output("view", g.reshape(y, 3, 2));
            g.output("constant", g.scalar(DType.F32, 1));
        });
        Plan plan = PassesTest.plan(graph, CompilerOptions.defaults());
        Set<Placement> places = new HashSet<>();
        plan.graph()
                .outputs()
                .values()
                .forEach(value -> places.add(plan.memory().of(value)));
        assertThat(places).hasSize(5).allMatch(Placement.Output.class::isInstance);
        assertThat(plan.graph().outputs().keySet()).containsExactly("input", "y", "again", "view", "constant");
    }

    @Test
    void aBroadcastOperandIsNotOverwritten() {
        Graph graph = GraphBuilder.build("broadcast", g -> {
            Value x = g.input("x", DType.F32, Dim.of(4), Dim.of(4));
            Value row = g.reduce(dev.tenon.core.ir.fn.ReduceFn.SUM, x, true, 0);
            g.output("y", g.transpose(g.add(g.transpose(x, 1, 0), row), 1, 0));
        });
        checkNoLiveValueIsOverwritten(PassesTest.plan(graph, CompilerOptions.defaults()));
    }
}
