package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.VerificationException;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.core.testkit.OpCasesCustom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Print, parse, and print again. */
class GraphTextTest {
    private static final String HEAD = """
            graph "head" {
              input %x: f32[batch,3]
              param %w: f32[3,2]
              const %shift: f32[2] = [1.0, -1.5]
              const %half: f32[] = splat 0.5
              %mat_mul: f32[batch,2] = mat_mul(epilogue=(bias=true, activation=(fn=leaky_relu, alpha=0.01))) %x, %w, %shift @"/layer.0/dense"
              %binary: f32[batch,2] = binary(fn=mul) %mat_mul, %half
              %top_k: f32[batch,1], %top_k.0: i64[batch,1] = top_k(k=1, axis=1, largest=true) %binary
              output "value" = %top_k
              output "the \\"index\\"" = %top_k.0
            }
            """;

    private static Graph head() {
        return GraphBuilder.build("head", g -> {
            Value x = g.input("x", DType.F32, Dim.named("batch"), Dim.of(3));
            Value w = g.parameter("w", DType.F32, 3, 2);
            Value half = g.constant("half", new ConstantData.Splat(TensorType.of(DType.F32), 0x3F000000));
            Value shift = g.constant(
                    "shift", NdArray.of(TensorType.of(DType.F32, 2), 1, -1.5).toConstant());
            Epilogue epilogue = Epilogue.NONE.withBias().withActivation(new Unary(UnaryFn.LEAKY_RELU, 0.01, 0));
            Value y = g.add("/layer.0/dense", new MatMul(false, false, epilogue), List.of(x, w, shift))
                    .getFirst();
            List<Value> top = g.addAll(new TopK(1, 1, true, false), List.of(g.mul(y, half)));
            g.output("value", top.getFirst());
            g.output("the \"index\"", top.getLast());
        });
    }

    private static void roundTrips(Graph graph) {
        String text = GraphText.print(graph);
        Graph again = GraphText.parse(text, GraphText.data(graph)::get);
        assertThat(GraphText.print(again)).isEqualTo(text);
        assertThat(again.nodes()).hasSameSizeAs(graph.nodes());
        for (int i = 0; i < graph.nodes().size(); i++) {
            Node node = graph.nodes().get(i);
            // graphs and dense data are equal only to themselves
            if (!holdsObjects(node.op())) {
                assertThat(again.nodes().get(i).op()).isEqualTo(node.op());
            }
            assertThat(again.nodes().get(i).name()).isEqualTo(node.name());
        }
    }

    private static boolean holdsObjects(Op op) {
        return op instanceof If || op instanceof Loop || op instanceof Scan || op instanceof FillTo;
    }

    @Test
    void oneLineANode() {
        assertThat(head()).hasToString(HEAD);
        assertThat(GraphText.parse(HEAD)).hasToString(HEAD);
        roundTrips(head());
    }

    @Test
    void blanksAndCommentsDoNotCount() {
        assertThat(GraphText.parse(
                        HEAD.replace("{\n", "{ # the classifier's\n\n").replace(", ", " ,")))
                .hasToString(HEAD);
    }

    @Test
    void attributesOfEveryKind() {
        roundTrips(GraphBuilder.build("kinds", g -> {
            Value x = g.input("x y:0", DType.F32, Dim.of(1), Dim.of(2), Dim.named("a+1"), Dim.of(8));
            Value a = g.add(new Attention(true, 5, AttentionMask.NONE, Double.NaN, 1e-300), x, x, x);
            Region region = new Region(
                    List.of(
                            new Region.Step(new Binary(BinaryFn.ADD), List.of(0, 1)),
                            new Region.Step(new Unary(UnaryFn.CLIP, -0.0, Double.POSITIVE_INFINITY), List.of(2))),
                    List.of(1));
            Value r = g.add(region, a, x);
            Value t = g.add(new Transpose(List.of(3, 0, 2, 1)), r);
            Value filled = g.add(
                    new FillTo(new ConstantData.Splat(TensorType.of(DType.I8, 1), 3)),
                    g.constant(NdArray.ofLongs(2, 2).toConstant()));
            g.output("t", g.cast(t, DType.BF16));
            g.output("filled", filled);
        }));
        roundTrips(GraphBuilder.build("recurrent", g -> {
            Rnn op = new Rnn(
                    RnnDirection.REVERSE,
                    4,
                    List.of(new RnnActivation(UnaryFn.AFFINE, 0.1, 1e308)),
                    0,
                    true,
                    false,
                    false,
                    false);
            List<Value> results = g.addAll(
                    op,
                    List.of(
                            g.input("x", DType.F32, Dim.of(2), Dim.unknown(), Dim.of(3)),
                            g.input("w", DType.F32, Dim.of(1), Dim.of(4), Dim.of(3)),
                            g.input("r", new TensorType(DType.F32, Shape.unranked()))));
            g.output("h", results.getLast());
        }));
    }

    @Test
    void graphsNest() {
        Graph branch = GraphBuilder.build(
                "negated", g -> g.output("y", g.unary(UnaryFn.NEG, g.input("x", DType.F32, Dim.of(2)))));
        Graph other = GraphBuilder.build("shifted", g -> {
            Value x = g.input("x", DType.F32, Dim.of(2));
            g.output(
                    "y",
                    g.add(
                            x,
                            g.constant(NdArray.of(TensorType.of(DType.F32, 2), 1, 2)
                                    .toConstant())));
        });
        Graph graph = GraphBuilder.build("choice", g -> {
            Value condition = g.input("c", DType.BOOL);
            Value x = g.input("x", DType.F32, Dim.of(2));
            g.output("y", g.add(new If(branch, other), condition, x));
        });
        roundTrips(graph);
        assertThat(graph.toString()).contains("then_branch=graph \"negated\" {\n    input %x: f32[2]\n");
    }

    @Test
    void constantsKeepTheirBits() {
        roundTrips(GraphBuilder.build("bits", g -> {
            for (DType dtype : DType.values()) {
                MemorySegment segment = Arena.ofAuto().allocate(dtype.bytesFor(6));
                for (int i = 0; i < 6; i++) {
                    Elements.setBits(
                            dtype, segment, i, new long[] {0, 1, -1, 0x7FF0123456789ABCL, 0x7FC0DEAD, 0x8000}[i]);
                }
                Value dense = g.constant(new ConstantData.Dense(TensorType.of(dtype, 2, 3), segment));
                g.output("dense " + dtype, dense);
                g.output("splat " + dtype, g.constant(new ConstantData.Splat(TensorType.of(dtype, 1000), -1)));
            }
            g.output("none", g.constant(new ConstantData.Dense(TensorType.of(DType.F32, 0), MemorySegment.NULL)));
        }));
        MemorySegment nan = MemorySegment.ofArray(new int[] {0x7FC00001, 0x7FC00000});
        Graph graph = GraphBuilder.build(
                "nan", g -> g.output("y", g.constant(new ConstantData.Dense(TensorType.of(DType.F32, 2), nan))));
        assertThat(graph.toString()).contains("= [0x7fc00001, NaN]");
        Value again = Objects.requireNonNull(
                GraphText.parse(graph.toString()).outputs().get("y"));
        assertThat(((ConstantData.Dense) ((Value.Origin.Constant) again.origin()).data())
                        .segment()
                        .mismatch(nan))
                .isEqualTo(-1);
    }

    static List<OpCase> cases() {
        return OpCases.all().stream()
                .filter(one -> !(one.op() instanceof Custom))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyOperation(OpCase opCase) {
        GraphBuilder g = new GraphBuilder(opCase.name());
        List<Value> inputs = new ArrayList<>();
        for (NdArray input : opCase.inputs()) {
            inputs.add(g.input("x" + inputs.size(), input.type()));
        }
        List<Value> results = g.add(opCase.name(), opCase.op(), inputs);
        g.output("y", results.getFirst());
        roundTrips(g.build());
    }

    @Test
    void customOperationsArePrintedAndNotRead() {
        Custom op = new Custom(new OpCasesCustom.HalfAndWhole(0.5f, true, true, "s"));
        Graph graph = GraphBuilder.build(
                "custom",
                g -> g.output(
                        "a", g.add("", op, List.of(g.input("x", DType.F32, 2))).getFirst()));
        String text = GraphText.print(graph);
        assertThat(text).contains("= half_and_whole(definition=\"HalfAndWhole[shift=0.5, hasHostBody=true,");
        assertThatThrownBy(() -> GraphText.parse(text)).hasMessageContaining("no operation \"half_and_whole\"");
    }

    @Test
    void largeConstantsStayOutside() {
        Graph graph = GraphBuilder.build("large", g -> {
            NdArray table = NdArray.zeros(DType.I32, 20);
            table.set(3, 1L);
            g.output("y", g.cast(g.constant(table.toConstant()), DType.F32));
        });
        assertThat(graph.toString()).contains("const %const: i32[20] = data(\"0\")");
        roundTrips(graph);
        assertThatThrownBy(() -> GraphText.parse(graph.toString()))
                .isInstanceOf(ImportException.class)
                .hasMessage("graph text, line 2: constant i32[20] refers to data \"0\", which is not given");
    }

    @Test
    void faultsNameTheirLine() {
        fault("graph \"g\" {\n input %x f32[]\n}", "graph text, line 2: expected \":\", found \"f32\"");
        fault("graph \"g\" {\n %y: f32[] = nonsense\n}", "graph text, line 2: no operation \"nonsense\"");
        fault(
                "graph \"g\" {\n input %x: f32[]\n "
                        + "%y: f32[] = region(steps=[(op=softmax(axis=0), arguments=[0])], results=[0]) %x\n}",
                "graph text, line 3: operation \"softmax\" is of another kind; expected one that is elementwise");
        fault("graph \"g\" {\n %y: f32[] = where %x\n}", "graph text, line 2: no value named %x stands before");
        fault("graph \"g\" {\n %y: f33[] = where\n}", "graph text, line 2: no element type \"f33\"");
        fault(
                "graph \"g\" {\n\n %y: f32[] = cast(to=f32, too=3)\n}",
                "graph text, line 3: cast has no attribute \"too\"");
        fault("graph \"g\" {\n %y: f32[] = cast\n}", "graph text, line 2: cast needs attribute \"to\"");
        fault("graph \"g\" {\n %y: f32[] = top_k(k=x)\n}", "graph text, line 2: For input string: \"x\"");
        fault(
                "graph \"g\" {\n const %c: i8[2] = [1]\n}",
                "graph text, line 2: constant i8[2] has 1 elements; expected 2");
        fault("graph \"g\" {\n input %x: f32[]\n input %x: f32[]\n}", "graph text, line 3: a second value is named %x");
        fault("graph \"g\" {\n", "graph text, line 2: expected a statement or \"}\", found the end");
        fault("graph \"g\" {\n}\nx", "graph text, line 3: expected the end, found \"x\"");
        fault("graph \"g", "graph text, line 1: expected \" at the end of the string");
        assertThatThrownBy(() -> GraphText.parse(HEAD.replace("%binary: f32[batch,2]", "%binary: f32[batch,4]")))
                .isInstanceOf(VerificationException.class);
    }

    private static void fault(String text, String message) {
        assertThatThrownBy(() -> GraphText.parse(text))
                .isInstanceOf(ImportException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void aThousandNodesAreQuick() {
        Graph graph = GraphBuilder.build("long", g -> {
            Value x = g.input("x", DType.F32, Dim.named("n"));
            for (int i = 0; i < 5000; i++) {
                x = g.relu(x);
            }
            g.output("y", x);
        });
        long start = System.nanoTime();
        roundTrips(graph);
        assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
    }
}
