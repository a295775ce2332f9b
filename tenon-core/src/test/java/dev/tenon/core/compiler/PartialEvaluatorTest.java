package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SliceBy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class PartialEvaluatorTest {
    private static Value longs(GraphBuilder g, long... values) {
        return g.constant(NdArray.ofLongs(values).toConstant());
    }

    private static Graph flatten() {
        return GraphBuilder.build("flatten", g -> {
            Value x = g.input("x", DType.F32, Dim.named("batch"), Dim.named("rows"), Dim.of(4));
            Value batch = g.add(new ShapeOf(0, 1), x);
            g.output("y", g.add(new ReshapeTo(false), x, g.concat(List.of(batch, longs(g, -1)), 0)));
        });
    }

    @Test
    void shapeArithmeticVanishesOnceDimsAreBound() {
        Graph prepared = PartialEvaluator.evaluate(flatten(), Map.of(), Map.of());
        assertThat(prepared.nodes()).as("nothing is known of batch yet").hasSize(3);
        Graph bound = PartialEvaluator.evaluate(prepared, Map.of("x", TensorType.of(DType.F32, 2, 3, 4)), Map.of());
        assertThat(bound.nodes())
                .filteredOn(node -> !node.op().mnemonic().equals("reshape"))
                .isEmpty();
        assertThat(bound.outputs().get("y").type()).isEqualTo(TensorType.of(DType.F32, 2, 12));
    }

    /** OX-06: 4 GiB of twos are never written out. */
    @Test
    void hugeConstantsStaySplats() {
        Graph graph = GraphBuilder.build("blowup", g -> {
            Value x = g.input("x", DType.F32, Dim.of(1), Dim.of(4));
            Value two = g.add(
                    new FillTo(new ConstantData.Splat(TensorType.of(DType.F32, 1), Elements.fromDouble(DType.F32, 2))),
                    longs(g, 32768, 32768));
            Value corner = g.add(new SliceBy(false, false), two, longs(g, 32767, 32764), longs(g, 32768, 32768));
            g.output("y", g.mul(x, corner));
        });
        Graph folded = PartialEvaluator.evaluate(graph, Map.of(), Map.of());
        assertThat(folded.nodes()).hasSize(1);
        assertThat(folded.constants()).singleElement().satisfies(value -> {
            assertThat(value.type()).isEqualTo(TensorType.of(DType.F32, 1, 4));
            assertThat(Match.splat(value)).isEqualTo(2.0);
        });
    }

    @Test
    void foldingIsBoundedByBytes() {
        Graph graph = GraphBuilder.build("expand", g -> {
            NdArray row = NdArray.zeros(DType.F32, 1, 1024);
            row.set(1, 1.0);
            g.output("y", g.expand(g.constant(row.toConstant()), 1024, 1024));
        });
        assertThat(PartialEvaluator.evaluate(graph, Map.of(), Map.of()).nodes())
                .as("4 MiB out of 4 KiB")
                .hasSize(1);
    }

    @Test
    void aBranchOnAShapeIsTakenWhenTheShapeIsKnown() {
        Graph twice = branch("then", 2);
        Graph thrice = branch("else", 3);
        Graph graph = GraphBuilder.build("if", g -> {
            Value x = g.input("x", DType.F32, Dim.named("n"));
            Value n = g.add(new ShapeOf(0, 1), x);
            Value small = g.reshape(g.compare(dev.tenon.core.ir.fn.CompareFn.LT, n, longs(g, 10)));
            g.output("y", g.add(new If(twice, thrice), small, x));
        });
        Graph bound = PartialEvaluator.evaluate(graph, Map.of("x", TensorType.of(DType.F32, 5)), Map.of());
        assertThat(new DeadCode()
                        .apply(bound, new PassContext(node -> false, null))
                        .nodes())
                .singleElement()
                .satisfies(node -> assertThat(Match.splat(node.input(1))).isEqualTo(2.0));
    }

    private static Graph branch(String name, double factor) {
        return GraphBuilder.build(
                name, g -> g.output("y", g.mul(g.input("x", DType.F32, Dim.named("n")), g.scalar(DType.F32, factor))));
    }

    /** A reshape to sizes that only the run knows cuts the graph in two. */
    @Test
    void shapesOutOfTheRunCutTheGraph() {
        Graph graph = GraphBuilder.build("cut", g -> {
            Value x = g.input("x", DType.F32, Dim.of(6));
            Value sizes = g.input("sizes", DType.I64, Dim.of(2));
            Value doubled = g.mul(x, g.scalar(DType.F32, 2));
            g.output("early", g.relu(doubled));
            g.output("late", g.relu(g.add(new ReshapeTo(false), doubled, g.add(sizes, longs(g, 1, 1)))));
        });
        Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> false);
        Map<String, TensorType> types = Map.of("x", TensorType.of(DType.F32, 6), "sizes", TensorType.of(DType.I64, 2));
        Stage first = compiler.plan(compiler.prepare(graph, Map.of()), types, Map.of());
        Stage.Rest rest = first.rest();
        assertThat(rest).isNotNull();
        assertThat(first.plan().graph().outputs().keySet()).contains("early").doesNotContain("late");
        assertThat(rest.needed()).hasSize(1);
        assertThat(rest.graph().outputs().keySet()).isEqualTo(Set.of("late"));
        String needed = rest.needed().iterator().next();
        String other = rest.graph().inputs().stream()
                .map(Value::name)
                .filter(name -> !name.equals(needed))
                .findFirst()
                .orElseThrow();
        Stage second = compiler.plan(
                rest.graph(),
                Map.of(other, TensorType.of(DType.F32, 6)),
                Map.of(needed, NdArray.ofLongs(2, 3).toConstant()));
        assertThat(second.rest()).isNull();
        assertThat(second.plan().graph().outputs().get("late").type()).isEqualTo(TensorType.of(DType.F32, 2, 3));
    }
}
