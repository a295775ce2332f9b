package dev.tenon.formats.onnx;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shapes that ONNX Runtime's operators do not take are refused: when the model is read where it fixes them, else by the
 * run that brings them.
 */
class MicrosoftShapesTest {
    private static final int F32 = 1;
    private static final int I32 = 6;
    private static final UnaryOperator<Wire> OURS = n -> n.string(7, "com.microsoft");

    private static OnnxModel model(UnaryOperator<Wire> graph) {
        return OnnxModel.parse(
                "model",
                Wire.model(
                        graph,
                        m -> m.message(8, o -> o.string(1, "com.microsoft").number(2, 1))));
    }

    /** x and what is added to it, of those dims. */
    private static OnnxModel sum(String op, String x, String added) {
        String operands = op.startsWith("Skip") ? "x added gamma" : "x added";
        return model(g -> g.inputOf(F32, "x", x)
                .inputOf(F32, "added", added)
                .inputOf(F32, "gamma", 5)
                .output("y", 1)
                .node(op, "n", operands, "y", OURS));
    }

    private static Shape run(OnnxModel model, long[] x, long[] added) {
        Map<String, NdArray> given = Map.of(
                "x", NdArray.zeros(DType.F32, x),
                "added", NdArray.zeros(DType.F32, added),
                "gamma", NdArray.zeros(DType.F32, 5));
        return Interpreter.run(model.graph(), given).get("y").shape();
    }

    @ParameterizedTest
    @ValueSource(strings = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "BiasGelu", "FastGelu"})
    void whatIsAddedNeverWidensTheInput(String op) {
        for (String added : new String[] {"2,3,5", "C,3,5"}) {
            OnnxModel named = sum(op, "B,3,5", added);
            assertThat(run(named, new long[] {2, 3, 5}, new long[] {2, 3, 5})).isEqualTo(Shape.of(2, 3, 5));
            assertThatThrownBy(() -> run(named, new long[] {1, 3, 5}, new long[] {2, 3, 5}))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContainingAll("\"n\"", "[2,3,5]", "[1, 3, 5]");
        }
        OnnxModel narrow = sum(op, "B,3,5", "3,5");
        assertThat(run(narrow, new long[] {4, 3, 5}, new long[] {3, 5})).isEqualTo(Shape.of(4, 3, 5));
    }

    @ParameterizedTest
    @CsvSource({"BiasGelu, '5', '3,5'", "FastGelu, '5', '3,5'", "BiasGelu, 'B', '3,B'", "BiasGelu, '1,5', '3,5'"})
    void aBiasThatDoesNotFitIsRefused(String op, String x, String bias) {
        assertThatThrownBy(() -> sum(op, x, bias))
                .isInstanceOf(ImportException.class)
                .hasMessageContainingAll("bias f32[" + bias + "]", "must broadcast to the input, f32[" + x + "]");
    }

    @Test
    void dimsOfOneNameNeedNoCheck() {
        OnnxModel model = sum("SkipLayerNormalization", "B,S,5", "B,S,5");
        assertThat(model.graph().toString()).doesNotContain("reshape");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    void scalarsHaveNoRows(String op) {
        assertThatThrownBy(() -> sum(op, "", ""))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("the input, f32[], must be of rank 1 or more");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "2,3,4", "B,S,4"})
    void tokensAreAMatrix(String ids) {
        assertThatThrownBy(() -> model(g -> g.inputOf(I32, "ids", ids)
                        .inputOf(F32, "table", 7, 5)
                        .inputOf(F32, "gamma", 5)
                        .output("y", 1)
                        .node("EmbedLayerNormalization", "n", "ids - table table - gamma gamma", "y", OURS)))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining("input_ids must be of rank 2, [batch, tokens], and are i32[" + ids + "]");
    }

    @Test
    void quickGeluWithoutASlopeIsHalf() {
        OnnxModel model = model(g -> g.inputOf(F32, "x", 4)
                .output("y", 1)
                .node(
                        "QuickGelu",
                        "n",
                        "x",
                        "y",
                        n -> OURS.apply(n)
                                .message(
                                        5,
                                        a -> a.string(1, "alpha").number(20, 1).float32(2, 0))));
        NdArray x = NdArray.of(TensorType.of(DType.F32, 4), -3.0, 0, 1, 7);
        assertThat(Interpreter.run(model.graph(), Map.of("x", x)).get("y").toDoubles())
                .containsExactly(-1.5, 0, 0.5, 3.5);
    }
}
