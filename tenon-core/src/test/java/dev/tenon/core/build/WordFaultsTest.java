package dev.tenon.core.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** What words say of axes that are not there, and of operands that do not fit. */
class WordFaultsTest {
    private interface Word {
        Object apply(GraphBuilder g, Value x, int axis);
    }

    /** By the operation that the message names. */
    private static Map<String, Word> words() {
        Map<String, Word> words = new LinkedHashMap<>();
        words.put("softmax", GraphBuilder::softmax);
        words.put("log_softmax", GraphBuilder::logSoftmax);
        words.put("layer_norm", (g, x, axis) -> g.layerNorm(x, x, x, axis, 1e-5));
        words.put("rms_norm", (g, x, axis) -> g.rmsNorm(x, x, axis, 1e-5));
        words.put("sum", (g, x, axis) -> g.sum(x, axis));
        words.put("mean", (g, x, axis) -> g.mean(x, true, axis));
        words.put("max", (g, x, axis) -> g.max(x, axis));
        words.put("arg_max", GraphBuilder::argMax);
        words.put("arg_min", GraphBuilder::argMin);
        words.put("top_k", (g, x, axis) -> g.topK(x, 1, axis));
        words.put("sort", (g, x, axis) -> g.sort(x, axis, true));
        words.put("cumsum", GraphBuilder::cumsum);
        words.put("cumprod", GraphBuilder::cumprod);
        words.put("squeeze", (g, x, axis) -> g.squeeze(x, axis));
        words.put("transpose", (g, x, axis) -> g.transpose(x, 0, axis));
        words.put("swap_axes", (g, x, axis) -> g.swapAxes(x, 0, axis));
        words.put("slice", (g, x, axis) -> g.slice(x, axis, 0, 1));
        words.put("concat", (g, x, axis) -> g.concat(List.of(x, x), axis));
        words.put("split", (g, x, axis) -> g.split(x, axis, 1, 1));
        words.put("chunk", (g, x, axis) -> g.chunk(x, axis, 1));
        words.put("gather", (g, x, axis) -> g.gather(x, x, axis));
        words.put("gather_elements", (g, x, axis) -> g.gatherElements(x, x, axis));
        words.put("scatter_elements", (g, x, axis) -> g.scatterElements(x, x, x, axis));
        return words;
    }

    @TestFactory
    Stream<DynamicTest> axisOutOfRangeIsRefusedByTheOperationsName() {
        return words().entrySet().stream()
                .map(word -> DynamicTest.dynamicTest(word.getKey(), () -> {
                    GraphBuilder g = new GraphBuilder("axes");
                    Value x = g.input("x", DType.F32, 2, 5);
                    for (int axis : new int[] {2, -3}) {
                        assertThatThrownBy(() -> word.getValue().apply(g, x, axis))
                                .isInstanceOf(ShapeException.class)
                                .hasMessage(word.getKey() + ": axis " + axis
                                        + " is out of range for rank 2; expected -2 to 1")
                                .asInstanceOf(InstanceOfAssertFactories.type(TenonException.class))
                                .satisfies(e -> assertThat(e.operation()).hasValue(word.getKey()))
                                .satisfies(e -> assertThat(e.operands()).containsExactly("f32[2,5]"));
                    }
                }));
    }

    @TestFactory
    Stream<DynamicTest> valueWithoutRankIsRefused() {
        return words().entrySet().stream()
                .filter(word -> !word.getKey().equals("transpose")) // takes axes from the front without a rank
                .map(word -> DynamicTest.dynamicTest(word.getKey(), () -> {
                    GraphBuilder g = new GraphBuilder("unranked");
                    Value x = g.input("x", new TensorType(DType.F32, Shape.unranked()));
                    assertThatThrownBy(() -> word.getValue().apply(g, x, 0))
                            .isInstanceOf(ShapeException.class)
                            .hasMessageContaining(word.getKey() + ": the number of axes of x is not known");
                }));
    }

    @Test
    void rulesNameOperationAndOperands() {
        GraphBuilder g = new GraphBuilder("rules");
        Value a = g.input("a", DType.F32, 2, 3);
        Value b = g.input("b", DType.F32, 4, 5);
        assertThatThrownBy(() -> g.matmul(a, b)).isInstanceOfSatisfying(ShapeException.class, e -> {
            assertThat(e.operation()).hasValue("mat_mul");
            assertThat(e.operands()).containsExactly("f32[2,3]", "f32[4,5]");
            assertThat(e.node()).isEmpty();
        });
        assertThatThrownBy(() -> g.add("/layer.0/q", dev.tenon.core.ir.op.contraction.MatMul.plain(), List.of(a, b)))
                .isInstanceOfSatisfying(ShapeException.class, e -> {
                    assertThat(e.node()).hasValue("/layer.0/q");
                    assertThat(e.operation()).hasValue("mat_mul");
                    assertThat(e.operands()).containsExactly("f32[2,3]", "f32[4,5]");
                });
    }

    @Test
    void nullOperandNamesTheArgument() {
        GraphBuilder g = new GraphBuilder("nulls");
        Value x = g.input("x", DType.F32, 2, 3);
        assertThatThrownBy(() -> g.layerNorm(x, x, null, 1e-5)).isInstanceOfSatisfying(InputException.class, e -> {
            assertThat(e.argument()).hasValue("bias");
            assertThat(e.operation()).hasValue("layer_norm");
        });
    }
}
