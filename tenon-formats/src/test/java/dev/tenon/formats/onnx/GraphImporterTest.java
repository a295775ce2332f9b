package dev.tenon.formats.onnx;

import static dev.tenon.formats.onnx.Cases.f32;
import static dev.tenon.formats.onnx.Cases.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Names, scopes, branches, functions, and what is wrong with them. */
class GraphImporterTest {
    private static OnnxModel parse(UnaryOperator<Wire> graph) {
        return OnnxModel.parse("model", Wire.model(graph));
    }

    private static void refused(UnaryOperator<Wire> graph, String... parts) {
        assertThatThrownBy(() -> parse(graph))
                .isInstanceOf(ImportException.class)
                .hasMessageStartingWith("model")
                .hasMessageContainingAll(parts);
    }

    @Test
    void nodesOutOfOrderAreSorted() {
        OnnxModel model = parse(g ->
                g.input("x", 2).output("z", 2).node("Neg", "second", "y", "z").node("Exp", "first", "x", "y"));
        assertThat(Cases.run(model, f32(shape(2), 0, 0)).toDoubles()).containsExactly(-1, -1);
    }

    @Test
    void anOperatorWithASlipIsNamedRight() {
        refused(
                g -> g.input("x", 2).output("y", 2).node("Sofmax", "/x/y", "x", "y"),
                "node \"/x/y\": operator Sofmax (opset 17) is not supported; did you mean Softmax?");
    }

    @Test
    void aStrangeOperatorGetsNoNamesThatMeanSomethingElse() {
        refused(
                g -> g.input("x", 2).output("y", 2).node("FusedMatMul", "n", "x", "y"),
                "operator FusedMatMul (opset 17) is not supported; expected an operator of the ONNX domain");
        refused(
                g -> g.input("x", 2).output("y", 2).node("BiasGelu", "n", "x", "y"),
                "operator BiasGelu (opset 17) is not supported; the domain com.microsoft has an operator of that name");
    }

    @Test
    void whatIsCombinedNeverWidensTheResult() {
        refused(
                g -> g.inputOf(1, "x", 1, 3)
                        .inputOf(1, "s", 5, 3)
                        .output("y", 2)
                        .node("PRelu", "n", "x s", "y"),
                "operator PRelu",
                "slope f32[5,3] must broadcast to the input, f32[1,3]");
        refused(
                g -> g.inputOf(1, "a", 1, 2)
                        .inputOf(1, "b", 2, 3)
                        .inputOf(1, "c", 5, 3)
                        .output("y", 2)
                        .node("Gemm", "n", "a b c", "y"),
                "operator Gemm",
                "C f32[5,3] must broadcast to the input, f32[1,3]");
        OnnxModel model = parse(g -> g.inputOf(1, "a", "m,2")
                .inputOf(1, "b", 2, 3)
                .inputOf(1, "c", 5, 3)
                .output("y", 2)
                .node("Gemm", "n", "a b c", "y"));
        for (long rows : new long[] {1, 5}) {
            Map<String, NdArray> given = Map.of(
                    "a", NdArray.zeros(DType.F32, rows, 2),
                    "b", NdArray.zeros(DType.F32, 2, 3),
                    "c", NdArray.zeros(DType.F32, 5, 3));
            if (rows == 5) {
                assertThat(Interpreter.run(model.graph(), given).get("y").shape())
                        .isEqualTo(Shape.of(5, 3));
            } else {
                assertThatThrownBy(() -> Interpreter.run(model.graph(), given)).isInstanceOf(TenonException.class);
            }
        }
    }

    @Test
    void anUnnamedNodeIsKnownByItsResult() {
        refused(g -> g.input("x", 2).output("y", 2).node("Nothing", "", "x", "y"), "node \"Nothing:y\"");
    }

    @Test
    void faultsOfNames() {
        refused(g -> g.input("x", 2).output("y", 2).node("Neg", "n", "absent", "y"), "\"absent\" is not defined");
        refused(g -> g.input("x", 2).output("y", 2).node("Neg", "n", "x", "z"), "output \"y\" is not defined");
        refused(
                g -> g.input("x", 2).output("y", 2).node("Neg", "a", "x", "y").node("Exp", "b", "x", "y"),
                "\"y\" is defined twice");
        refused(g -> g.input("x", 2).input("x", 2).output("x", 2), "x");
        refused(g -> g.input("x", 2).output("y", 2).node("Add", "a", "x z", "y").node("Neg", "b", "y", "z"), "cycle");
        refused(g -> g.input("x", 2).output("y", 2).node("Add", "n", "x -", "y"), "input 1 is missing");
    }

    @Test
    void shapesThatDoNotFitNameTheNode() {
        refused(
                g -> g.input("x", 2).input("w", 3).output("y", 2).node("Add", "/sum", "x w", "y"),
                "node \"/sum\": operator Add (opset 17)",
                "[2]",
                "[3]");
    }

    @Test
    void bothBranchesTakeTheSameCaptures() {
        UnaryOperator<Wire> thenBranch = b -> b.string(2, "then").output("t", 2).node("Neg", "", "x", "t");
        UnaryOperator<Wire> elseBranch = b -> b.string(2, "else").output("e", 2).node("Add", "", "w x", "e");
        OnnxModel model = parse(g -> g.input("x", 2)
                .input("w", 2)
                .message(
                        11,
                        v -> v.string(1, "c")
                                .message(
                                        2, t -> t.message(1, x -> x.number(1, 9).message(2, s -> s))))
                .output("y", 2)
                .node(
                        "If",
                        "choice",
                        "c",
                        "y",
                        n -> n.message(
                                        5,
                                        a -> a.string(1, "then_branch")
                                                .number(20, 5)
                                                .message(6, thenBranch))
                                .message(
                                        5,
                                        a -> a.string(1, "else_branch")
                                                .number(20, 5)
                                                .message(6, elseBranch))));
        assertThat(model.graph().nodes()).hasSize(1);
        assertThat(model.graph().nodes().getFirst().inputs()).hasSize(3);
        for (long chosen = 0; chosen < 2; chosen++) {
            NdArray y = Interpreter.run(
                            model.graph(),
                            Map.of(
                                    "x", f32(shape(2), 1, 2),
                                    "w", f32(shape(2), 10, 20),
                                    "c", NdArray.of(TensorType.of(DType.BOOL), chosen)))
                    .firstEntry()
                    .getValue();
            assertThat(y.toDoubles()).containsExactly(chosen == 1 ? -1 : 11, chosen == 1 ? -2 : 22);
        }
    }

    @Test
    void functionsAreInlinedWithTheirAttributes() {
        UnaryOperator<Wire> leaky = f -> f.string(10, "local")
                .string(1, "Leak")
                .string(4, "a")
                .string(5, "b")
                .message(9, o -> o.string(1, "").number(2, 17))
                .message(11, a -> a.string(1, "slope").number(20, 1).float32(2, 0.5f))
                .nodeAs(
                        7,
                        "LeakyRelu",
                        "inner",
                        "a",
                        "b",
                        n -> n.message(
                                5, a -> a.string(1, "alpha").number(20, 1).string(21, "slope")));
        byte[] bytes = Wire.model(
                g -> g.input("x", 1)
                        .output("z", 1)
                        .node("Leak", "one", "x", "y", n -> n.string(7, "local"))
                        .node(
                                "Leak",
                                "two",
                                "y",
                                "z",
                                n -> n.string(7, "local")
                                        .message(
                                                5,
                                                a -> a.string(1, "slope")
                                                        .number(20, 1)
                                                        .float32(2, 0.25f))),
                m -> m.message(25, leaky));
        OnnxModel model = OnnxModel.parse("model", bytes);
        assertThat(Cases.run(model, f32(shape(1), -8)).toDoubles()).containsExactly(-1);
        assertThat(model.graph().nodes().getFirst().name()).isEqualTo("one/inner");
    }

    @Test
    void aFunctionMustNotCallItself() {
        UnaryOperator<Wire> endless = f -> f.string(10, "local")
                .string(1, "F")
                .string(4, "a")
                .string(5, "b")
                .message(9, o -> o.string(1, "local").number(2, 1))
                .nodeAs(7, "F", "again", "a", "b", n -> n.string(7, "local"));
        byte[] bytes = Wire.model(
                g -> g.input("x", 1).output("y", 1).node("F", "f", "x", "y", n -> n.string(7, "local")),
                m -> m.message(25, endless));
        assertThatThrownBy(() -> OnnxModel.parse("model", bytes))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("calls itself");
    }

    @Test
    void tensorsMustHaveAllTheirElements() {
        refused(
                g -> g.message(
                                5,
                                t -> t.string(8, "w")
                                        .number(1, 1L << 40)
                                        .number(2, 1)
                                        .bytes(9, new byte[4]))
                        .output("w", 1),
                "tensor \"w\"",
                "4 bytes");
        refused(
                g -> g.message(
                                5,
                                t -> t.string(8, "w")
                                        .number(1, Long.MAX_VALUE)
                                        .number(1, Long.MAX_VALUE)
                                        .number(2, 1))
                        .output("w", 1),
                "too large");
        refused(
                g -> g.message(5, t -> t.string(8, "w").number(1, -1).number(2, 1))
                        .output("w", 1),
                "negative");
        refused(g -> g.message(5, t -> t.string(8, "w").number(2, 8)).output("w", 1), "string");
    }

    @Test
    void typedFieldsOfATensor() {
        OnnxModel model = parse(g -> g.message(
                        5,
                        t -> t.string(8, "w")
                                .number(1, 3)
                                .number(2, 3)
                                .number(5, 1)
                                .number(5, -2)
                                .number(5, 3))
                .output("w", 3, 3));
        NdArray w = Interpreter.run(model.graph(), Map.of()).firstEntry().getValue();
        assertThat(w.dtype()).isEqualTo(DType.I8);
        assertThat(w.toLongs()).containsExactly(1, -2, 3);
    }

    @Test
    void messagesNestOnlySoDeep() {
        Wire graph = new Wire().string(2, "innermost");
        for (int i = 0; i < 200; i++) {
            byte[] inner = graph.bytes();
            graph = new Wire()
                    .node(
                            "If",
                            "n",
                            "c",
                            "y",
                            n -> n.message(5, a -> a.string(1, "then_branch").bytes(6, inner)));
        }
        byte[] bytes = new Wire().bytes(7, graph.bytes()).bytes();
        assertThatThrownBy(() -> OnnxModel.parse("model", bytes))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("nest");
    }
}
