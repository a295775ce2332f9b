package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.rewrite.HalfStore;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.testkit.plan.PlanText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is done before sizes are known changes neither results nor what a plan finds to do. */
final class NamedSizesTest {
    private static final int GRAPHS = 60;

    /**
     * Pairs of batch and length: 0, 1, equal ones, a length that is a dim of the graph, the table's limit, beyond it.
     */
    private static final List<long[]> SIZES = List.of(
            new long[] {1, 1},
            new long[] {2, 1},
            new long[] {1, 2},
            new long[] {2, 2},
            new long[] {3, 7},
            new long[] {8, 8},
            new long[] {1, NamedGraphs.POSITIONS},
            new long[] {2, NamedGraphs.POSITIONS + 1});

    private final Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> false);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reducedGraphsGiveTheSameResultsInNoMoreSteps(boolean positions) {
        for (long seed = 0; seed < GRAPHS; seed++) {
            Graph graph = NamedGraphs.graph(seed, positions);
            Prepared prepared = compiler.prepare(graph, Map.of());
            for (long[] size : SIZES) {
                if (!positions || size[1] <= NamedGraphs.POSITIONS) {
                    compare(graph, prepared, size, seed);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true"})
    void recipesMakeTheSamePlansAsTheWholeWay(boolean claimed, boolean halves) {
        Compiler own =
                new Compiler(CompilerOptions.defaults(), node -> claimed, halves ? new HalfStore(DType.F16) : null);
        SplittableRandom random = new SplittableRandom(7);
        int reshapes = 0;
        for (long seed = 0; seed < 2 * GRAPHS; seed++) {
            Graph graph = NamedGraphs.graph(seed, seed % 2 == 0);
            Prepared prepared = own.prepare(graph, Map.of());
            for (int i = 0; i < 10; i++) {
                Map<String, TensorType> types =
                        NamedGraphs.types(graph, random.nextLong(1, 12), random.nextLong(1, NamedGraphs.POSITIONS + 1));
                assertThat(PlanText.of(own.plan(prepared, types, Map.of())))
                        .as("seed " + seed + " " + types)
                        .isEqualTo(PlanText.of(own.plan(prepared.reduced(), types, Map.of())));
            }
            SizeRecipe recipe = prepared.recipe();
            for (int step = 0; step < prepared.reduced().nodes().size(); step++) {
                reshapes += recipe.reshaped(step) == null ? 0 : 1;
            }
        }
        assertThat(reshapes).as("reshapes that take their sizes from names").isGreaterThan(GRAPHS);
    }

    /** Halves made before sizes are known are those made with them. */
    @Test
    void halvesGiveTheSameResultsBeforeSizesAreKnown() {
        Compiler own = new Compiler(CompilerOptions.defaults(), node -> true, new HalfStore(DType.F16));
        int ahead = 0;
        for (long seed = 0; seed < 2 * GRAPHS; seed++) {
            Graph graph = NamedGraphs.graph(seed, false);
            Prepared prepared = own.prepare(graph, Map.of());
            ahead += prepared.reduced().nodes().stream()
                            .anyMatch(node -> node.output().dtype() == DType.F16)
                    ? 1
                    : 0;
            Map<String, TensorType> types = NamedGraphs.types(graph, 3, 7);
            Map<String, NdArray> inputs = inputs(types, seed);
            Map<String, NdArray> late = Interpreter.run(
                    own.plan(prepared.graph(), types, Map.of()).plan().graph(), inputs);
            Map<String, NdArray> early =
                    Interpreter.run(own.plan(prepared, types, Map.of()).plan().graph(), inputs);
            for (String name : late.keySet()) {
                assertClose(early.get(name), late.get(name), 5e-3, "seed " + seed + " " + name);
            }
        }
        assertThat(ahead).as("graphs with halves before sizes are known").isGreaterThan(GRAPHS / 2);
    }

    private static void assertClose(NdArray actual, NdArray expected, double tolerance, String description) {
        assertThat(actual.type()).as(description).isEqualTo(expected.type());
        for (int i = 0; i < expected.size(); i++) {
            double value = expected.get(i);
            assertThat(actual.get(i))
                    .as(description)
                    .isCloseTo(value, within(tolerance * Math.max(1, Math.abs(value))));
        }
    }

    private void compare(Graph graph, Prepared prepared, long[] size, long seed) {
        Map<String, TensorType> types = NamedGraphs.types(graph, size[0], size[1]);
        Graph ahead = compiler.plan(prepared, types, Map.of()).plan().graph();
        Graph late = compiler.plan(prepared.graph(), types, Map.of()).plan().graph();
        String description = "seed " + seed + " sizes " + size[0] + "," + size[1] + "\n" + late + "\n" + ahead;
        assertThat(ahead.nodes().size())
                .as(description)
                .isLessThanOrEqualTo(late.nodes().size());
        Map<String, NdArray> inputs = inputs(types, seed);
        Map<String, NdArray> expected = Interpreter.run(graph, inputs);
        Map<String, NdArray> actual = Interpreter.run(ahead, inputs);
        expected.forEach((name, values) -> assertClose(actual.get(name), values, 1e-5, description));
    }

    private static Map<String, NdArray> inputs(Map<String, TensorType> types, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, NdArray> inputs = new LinkedHashMap<>();
        types.forEach((name, type) -> {
            NdArray array = NdArray.zeros(type);
            for (int i = 0; i < array.size(); i++) {
                array.set(i, (double) (float) random.nextDouble(-1, 1));
            }
            inputs.put(name, array);
        });
        return inputs;
    }

    @Test
    void reshapeToSizesOfAnotherValueHasNamedDims() {
        Prepared prepared = compiler.prepare(likeAnother(), Map.of());
        assertThat(prepared.reduced().outputs().get("y").shape()).isEqualTo(Shape.of(Dim.named("n"), Dim.named("m")));
        assertThat(prepared.graph().outputs().get("y").shape()).isEqualTo(Shape.unknown(2));
    }

    @Test
    void unsqueezesOfConstantAxesBecomeOne() {
        for (int inner = -3; inner < 3; inner++) {
            for (int outer = -4; outer < 4; outer++) {
                long first = inner;
                long second = outer;
                Graph graph = GraphBuilder.build("unsqueezes", g -> {
                    Value x = g.input("x", DType.F32, Dim.named("n"), Dim.named("m"));
                    Value once = g.add(new UnsqueezeAxes(), x, longs(g, first));
                    g.output("y", g.relu(g.add(new UnsqueezeAxes(), once, longs(g, second))));
                });
                Prepared prepared = compiler.prepare(graph, Map.of());
                assertThat(prepared.reduced().nodes()).hasSize(2);
                Map<String, TensorType> types = Map.of("x", TensorType.of(DType.F32, 3, 4));
                assertThat(typeOfY(prepared.reduced(), types))
                        .as(inner + ", " + outer)
                        .isEqualTo(typeOfY(prepared.graph(), types));
            }
        }
    }

    private TensorType typeOfY(Graph graph, Map<String, TensorType> types) {
        return Objects.requireNonNull(compiler.plan(graph, types, Map.of())
                        .plan()
                        .graph()
                        .outputs()
                        .get("y"))
                .type();
    }

    /** A size of 0 in the sizes of a reshape copies a dim, which need not be the one of that name. */
    @Test
    void sizeZeroIsServedByTheGraphAsItWas() {
        Prepared prepared = compiler.prepare(likeAnother(), Map.of());
        assertThat(prepared.serving(types(0, 4))).isSameAs(prepared.graph());
        assertThat(prepared.serving(types(3, 4))).isSameAs(prepared.reduced());
    }

    private static Graph likeAnother() {
        return GraphBuilder.build("like", g -> {
            Value x = g.input("x", DType.F32, Dim.named("m"), Dim.named("n"));
            Value other = g.transpose(x, 1, 0);
            g.output("y", g.add(new ReshapeTo(false), x, g.add(new ShapeOf(0, Long.MAX_VALUE), other)));
        });
    }

    private static Map<String, TensorType> types(long m, long n) {
        return Map.of("x", TensorType.of(DType.F32, m, n));
    }

    @Test
    void tableLimitsTheSizesThatTheReducedGraphServes() {
        Graph graph = GraphBuilder.build("table", g -> {
            Value x = g.input("x", DType.F32, Dim.named("m"), Dim.named("n"));
            Value end = g.add(new ShapeOf(1, 2), x);
            Value table = g.constant(
                    NdArray.of(TensorType.of(DType.F32, 4), 1.0, 2, 3, 4).toConstant());
            Value zero = g.constant(NdArray.ofLongs(0).toConstant());
            g.output("rows", g.add(new SliceBy(false, false), table, zero, end));
        });
        Prepared prepared = compiler.prepare(graph, Map.of());
        assertThat(prepared.limits()).isEqualTo(Map.of("n", 4L));
        assertThat(prepared.serving(types(9, 4))).isSameAs(prepared.reduced());
        assertThat(prepared.serving(types(9, 5))).isSameAs(prepared.graph());
        assertThat(compiler.plan(prepared, types(9, 3), Map.of())
                        .plan()
                        .graph()
                        .outputs()
                        .get("rows")
                        .type())
                .isEqualTo(TensorType.of(DType.F32, 3));
        assertThat(compiler.plan(prepared, types(9, 5), Map.of())
                        .plan()
                        .graph()
                        .outputs()
                        .get("rows")
                        .type())
                .isEqualTo(TensorType.of(DType.F32, 4));
    }

    /** A branch may say of its result what it likes; its names are not those of the graph around it. */
    @Test
    void namesWithinBranchesSayNothingOfTheGraph() {
        Graph rest = GraphBuilder.build("rest", g -> {
            Value x = g.input("x", DType.F32, Dim.named("n"));
            TensorType declared = new TensorType(DType.F32, Shape.of(Dim.named("n")));
            Value behind = g.add(new SliceBy(false, false), x, longs(g, 1), g.add(new ShapeOf(0, Long.MAX_VALUE), x));
            g.output(
                    "y",
                    g.addTyped("", new ReshapeTo(false), List.of(behind, longs(g, -1)), List.of("y"), List.of(declared))
                            .getFirst());
        });
        Graph graph = GraphBuilder.build("branch", g -> {
            Value x = g.input("x", DType.F32, Dim.named("n"));
            Value condition = g.cast(g.add(new ShapeOf(0, Long.MAX_VALUE), x), DType.BOOL);
            Value y = g.add(new If(rest, rest), g.add(Reshape.to(), condition), x);
            g.output("y", g.add(new ReshapeTo(false), y, g.add(new ShapeOf(0, Long.MAX_VALUE), y)));
        });
        Prepared prepared = compiler.prepare(graph, Map.of());
        assertThat(prepared.reduced().outputs().get("y").shape().isKnown()).isFalse();
        Map<String, TensorType> types = Map.of("x", TensorType.of(DType.F32, 5));
        assertThat(compiler.plan(prepared, types, Map.of())
                        .plan()
                        .graph()
                        .outputs()
                        .get("y")
                        .type())
                .isEqualTo(TensorType.of(DType.F32, 4));
    }

    private static Value longs(GraphBuilder g, long number) {
        return g.constant(NdArray.ofLongs(number).toConstant());
    }
}
