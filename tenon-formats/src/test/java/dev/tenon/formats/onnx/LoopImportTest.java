package dev.tenon.formats.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ImportException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.control.Loop;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops in files: what their bodies take from around them, shapes that change, files that want to be run for ever. */
class LoopImportTest {
    private static OnnxModel parse(UnaryOperator<Wire> graph) {
        return OnnxModel.parse("model", Wire.model(graph));
    }

    private static UnaryOperator<Wire> integer(long value) {
        return n -> n.message(5, a -> a.string(1, "value_int").number(20, 2).number(3, value));
    }

    private static UnaryOperator<Wire> body(UnaryOperator<Wire> graph) {
        return n -> n.message(5, a -> a.string(1, "body").number(20, 5).message(6, graph));
    }

    private static Map<String, NdArray> run(OnnxModel model, NdArray x) {
        return Interpreter.run(model.graph(), Map.of("x", x));
    }

    @Test
    void aBodySeesWhatIsAround() {
        OnnxModel model = parse(g -> g.input("x", 2)
                .output("y", 2)
                .output("each", 2)
                .node("Constant", "three", "", "m", integer(3))
                .node("Exp", "e", "x", "outer")
                .node(
                        "Loop",
                        "l",
                        "m - x",
                        "y each",
                        body(b -> b.input("i", 1)
                                .input("go", 1)
                                .input("s", 2)
                                .output("go", 1)
                                .output("next", 2)
                                .output("s", 2)
                                .node("Add", "a", "s outer", "next"))));
        Map<String, NdArray> results = run(model, Cases.f32(Cases.shape(2), 0, 0));
        assertThat(results.get("y").toDoubles()).containsExactly(3, 3);
        assertThat(results.get("each").toDoubles()).containsExactly(0, 0, 1, 1, 2, 2);
        assertThat(results.get("each").shape()).isEqualTo(Shape.of(3, 2));
    }

    @Test
    void aCarriedShapeMayGrow() {
        OnnxModel model = parse(g -> g.input("x", 1)
                .output("y", 1)
                .node("Constant", "four", "", "m", integer(4))
                .node(
                        "Loop",
                        "l",
                        "m - x",
                        "y",
                        body(b -> b.input("i", 1)
                                .input("go", 1)
                                .input("s", 1)
                                .output("go", 1)
                                .output("next", 1)
                                .node(
                                        "Concat",
                                        "c",
                                        "s s",
                                        "next",
                                        n -> n.message(
                                                5,
                                                a -> a.string(1, "axis")
                                                        .number(20, 2)
                                                        .number(3, 0))))));
        Loop loop = (Loop) model.graph().nodes().getLast().op();
        assertThat(loop.body().inputs().get(2).shape()).isEqualTo(Shape.of(Dim.unknown()));
        assertThat(run(model, Cases.f32(Cases.shape(1), 7)).get("y").shape()).isEqualTo(Shape.of(16));
    }

    private static Wire endless(Wire g) {
        return g.node(
                "Loop",
                "l",
                "- - one",
                "y",
                body(b -> b.input("i", 1)
                        .input("go", 1)
                        .input("s", 1)
                        .output("go", 1)
                        .output("next", 1)
                        .node("Add", "a", "s s", "next")));
    }

    /**
     * Everything that it depends on is known, and it never ends: it is for a run to find out, and for its thread to
     * stop.
     */
    @Test
    @Timeout(30)
    void importingRunsNoLoop() {
        OnnxModel model = parse(g -> endless(g.output("y", 1, 7).node("Constant", "c", "", "one", integer(1))));
        assertThat(model.graph().outputs().get("y").dtype()).isEqualTo(DType.I64);
    }

    @Test
    void bodiesThatDoNotFit() {
        assertThatThrownBy(() -> parse(g -> g.input("x", 1)
                        .output("y", 1)
                        .node(
                                "Loop",
                                "l",
                                "- - x",
                                "y",
                                body(b -> b.input("i", 1).output("i", 1)))))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("its body takes 1 values; expected 3");
        assertThatThrownBy(() -> parse(g -> g.input("x", 1)
                        .output("y", 1)
                        .node(
                                "Loop",
                                "l",
                                "- - x",
                                "y",
                                body(b -> b.input("i", 1)
                                        .input("go", 1)
                                        .input("s", 1)
                                        .output("go", 1)
                                        .output("i", 1)))))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("carried value 0 of the body is i64; expected f32");
    }

    private static final UnaryOperator<Wire> DOUBLING = body(b -> b.input("i", 1)
            .input("go", 1)
            .input("s", 2)
            .output("go", 1)
            .output("next", 2)
            .output("each", 2)
            .node("Add", "a", "s s", "next")
            .node("Mul", "b", "s w", "each"));

    /**
     * A loop whose number of turns and condition are given, with a scan output along w, which the loop takes from
     * around.
     */
    private static OnnxModel given(long... sizes) {
        return parse(g -> g.input("x", 2)
                .inputOf(7, "m", sizes)
                .inputOf(9, "c", sizes)
                .inputOf(1, "w", "k")
                .inputOf(1, "row", "1,k")
                .output("y", 2)
                .output("all", 2)
                .node("Loop", "l", "m c x", "y each", DOUBLING)
                .node(
                        "Concat",
                        "j",
                        "each row",
                        "all",
                        n -> n.message(5, a -> a.string(1, "axis").number(20, 2).number(3, 0))));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void oneElementOfAnyRankCounts(int rank) {
        long[] sizes = new long[rank];
        java.util.Arrays.fill(sizes, 1);
        for (long turns : new long[] {0, 1, 3, 20}) {
            Map<String, NdArray> given = Map.of(
                    "x", Cases.f32(Cases.shape(2), 1, 2),
                    "m", NdArray.of(TensorType.of(DType.I64, sizes), turns),
                    "c", NdArray.of(TensorType.of(DType.BOOL, sizes), 1L),
                    "w", Cases.f32(Cases.shape(2), 3, 4),
                    "row", Cases.f32(Cases.shape(1, 2), 5, 6));
            Map<String, NdArray> results = Interpreter.run(given(sizes).graph(), given);
            assertThat(results.get("y").toDoubles()).containsExactly(1L << turns, 2L << turns);
            // without turns too the scan is as wide as w, so that it joins a row
            assertThat(results.get("all").shape()).isEqualTo(Shape.of(turns + 1, 2));
        }
    }

    @Test
    void severalElementsDoNotCount() {
        assertThatThrownBy(() -> given(2))
                .isInstanceOf(ImportException.class)
                .hasMessageContainingAll("operator Loop", "(M)", "i64[2]", "expected one element");
    }

    @Test
    void aConditionOfTheBodyHasOneElement() {
        assertThatThrownBy(() -> parse(g -> g.input("x", 2)
                        .output("y", 2)
                        .node("Constant", "three", "", "m", integer(3))
                        .node(
                                "Loop",
                                "l",
                                "m - x",
                                "y",
                                body(b -> b.input("i", 1)
                                        .input("go", 1)
                                        .input("s", 2)
                                        .output("many", 2)
                                        .output("s", 2)
                                        .node("Less", "a", "s s", "many")))))
                .isInstanceOf(ImportException.class)
                .hasMessageContainingAll("loop", "condition of the body", "[2]");
    }
}
