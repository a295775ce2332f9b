package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.core.report.StepCost;
import dev.tenon.core.report.StepReport;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a step must move and compute at least. */
class StepCostTest {
    private static StepCost cost(Function<GraphBuilder, Value> result) {
        var graph = GraphBuilder.build("cost", g -> g.output("y", result.apply(g)));
        return StepReport.of(graph.nodes().getLast(), "", List.of()).cost();
    }

    private static Value input(GraphBuilder g, String name, long... sizes) {
        return g.input(name, DType.F32, sizes);
    }

    @Test
    void operationWithoutInputsOnlyWrites() {
        StepCost cost =
                cost(g -> g.add("", new Random(RandomFn.UNIFORM, DType.F32, List.of(3L, 5L), 0, 1, 7, false), List.of())
                        .getFirst());
        assertThat(cost.bytes()).isEqualTo(60);
    }

    @Test
    void productCountsMultiplicationsAndAdditions() {
        assertThat(cost(g -> g.matmul(input(g, "a", 2, 3, 5), input(g, "b", 5, 7))))
                .isEqualTo(new StepCost(4 * (30 + 35 + 42), 2 * 42 * 5));
    }

    @Test
    void operandThatStandsTwiceIsReadOnce() {
        assertThat(cost(g -> {
                    Value x = input(g, "x", 4, 4);
                    return g.add(x, x);
                }))
                .isEqualTo(new StepCost(4 * 32, 0));
    }

    @Test
    void gatherReadsWhatItPicks() {
        assertThat(cost(g -> g.gather(input(g, "table", 1000, 8), g.input("rows", DType.I64, 3), 0)))
                .isEqualTo(new StepCost(4 * 24 + 8 * 3 + 4 * 24, 0));
    }
}
