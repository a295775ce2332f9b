package dev.tenon.formats.onnx.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ImportException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.formats.onnx.schema.GraphProto;
import dev.tenon.formats.onnx.tensor.ExternalFiles;
import dev.tenon.formats.onnx.tensor.Tensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every input that the specification wants scalar, of rank 1 or constant is checked against it, for every operator that
 * is imported.
 */
class InputRulesTest {
    /**
     * Operators of whose inputs the specification asks no scalar and no list; a new operator goes here or into the
     * table.
     */
    private static final Set<String> FREE = Set.of(
            ("Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp Floor IsNaN Log Mish Neg Not Reciprocal"
                            + " Relu Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Celu Elu HardSigmoid HardSwish"
                            + " LeakyRelu Selu Shrink Swish ThresholdedRelu Gelu IsInf Add Sub Mul Div And Or Xor BitwiseAnd"
                            + " BitwiseOr BitwiseXor BitShift Mod Pow PRelu Equal Greater GreaterOrEqual Less LessOrEqual Max Min"
                            + " Sum Mean Where Cast CastLike BitCast ArgMax ArgMin Transpose Concat Flatten Shape Size Identity"
                            + " DepthToSpace SpaceToDepth Gather GatherElements GatherND Scatter ScatterElements ScatterND"
                            + " Constant EyeLike MatMul Gemm Einsum MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool"
                            + " GlobalLpPool Softmax LogSoftmax Hardmax LayerNormalization RMSNormalization LpNormalization LRN"
                            + " MeanVarianceNormalization DynamicQuantizeLinear MatMulInteger QLinearMatMul LinearAttention"
                            + " RotaryEmbedding GridSample MaxRoiPool NonZero Unique RandomUniform RandomNormal"
                            + " RandomUniformLike RandomNormalLike Bernoulli Multinomial Scan com.microsoft.Gelu"
                            + " com.microsoft.BiasGelu com.microsoft.FastGelu com.microsoft.QuickGelu")
                    .split(" "));

    private static final Branches NONE = new Branches() {
        @Override
        public Captured graphs(List<GraphProto> branches) {
            throw new AssertionError();
        }

        @Override
        public Captured loopBody(GraphProto body, List<TensorType> inputs) {
            throw new AssertionError();
        }

        @Override
        public List<Value> inline(GraphProto branch) {
            throw new AssertionError();
        }
    };

    static Stream<Arguments> rules() {
        return OnnxOps.names().stream()
                .flatMap(operator -> InputRules.of(operator).stream().map(rule -> Arguments.of(operator, rule)));
    }

    /** A node whose inputs up to the ruled one are x, f32[2,3,4], and that one is what is given. */
    private static NodeContext node(OnnxOps.Name operator, int input, GraphBuilder g, Value given) {
        List<@Nullable Value> inputs = new ArrayList<>();
        Value x = g.input("x", TensorType.of(DType.F32, 2, 3, 4));
        for (int i = 0; i < input; i++) {
            // inputs before the ruled one are left out where they have a rule of their own
            int index = i;
            boolean ruled = InputRules.of(operator).stream().anyMatch(other -> other.input() == index);
            inputs.add(ruled ? null : x);
        }
        inputs.add(given);
        return new NodeContext(
                g,
                new NodeContext.Applied("file: node \"n\": operator " + operator, "n", operator.op(), 23),
                inputs,
                1,
                Attributes.of("n", List.of(), Map.of()),
                new Tensors("file", ExternalFiles.none()),
                NONE);
    }

    private static List<Shape> shapes() {
        return List.of(
                Shape.scalar(),
                Shape.of(1),
                Shape.of(3),
                Shape.of(0),
                Shape.of(1, 1),
                Shape.of(2, 2),
                Shape.of(1, 3),
                Shape.of(1, 1, 1, 1));
    }

    private static boolean isAccepted(InputRules.Kind kind, Shape shape) {
        boolean single = shape.elements() == 1;
        return switch (kind) {
            case SCALAR -> single;
            case VECTOR -> shape.rank() == 1;
            case LIST -> shape.rank() <= 1;
            case SCALE -> single || shape.rank() == 1;
        };
    }

    @ParameterizedTest
    @MethodSource("rules")
    void everyRuledInputIsChecked(OnnxOps.Name operator, InputRules.Rule rule) {
        for (Shape shape : shapes()) {
            for (boolean constant : new boolean[] {false, true}) {
                GraphBuilder g = new GraphBuilder("g");
                TensorType type = new TensorType(DType.I64, shape);
                Value given = constant ? g.constant(NdArray.zeros(type).toConstant()) : g.input("given", type);
                NodeContext node = node(operator, rule.input(), g, given);
                String what = operator + " input " + rule.name() + " " + shape + (constant ? ", constant" : "");
                if (!isAccepted(rule.kind(), shape)) {
                    assertThatThrownBy(() -> OnnxOps.map(operator, node))
                            .as(what)
                            .isInstanceOf(ImportException.class)
                            .hasMessageContainingAll(
                                    "operator " + operator + ":", "(" + rule.name() + ")", "i64" + shape, "expected ");
                } else if (rule.constant() && !constant) {
                    assertThatThrownBy(() -> OnnxOps.map(operator, node))
                            .as(what)
                            .isInstanceOf(ImportException.class)
                            .hasMessageContainingAll("(" + rule.name() + ")", "expected a constant");
                } else {
                    accepted(operator, rule, node, what);
                }
            }
        }
    }

    /**
     * The rest of the node may be nonsense here, but the ruled input is not what is wrong with it, and the mapping sees
     * it in one form.
     */
    private static void accepted(OnnxOps.Name operator, InputRules.Rule rule, NodeContext node, String what) {
        Throwable fault = catchThrowable(() -> OnnxOps.map(operator, node));
        if (fault != null) {
            assertThat(fault)
                    .as(what)
                    .isInstanceOfAny(TenonException.class, IndexOutOfBoundsException.class, AssertionError.class);
            assertThat(String.valueOf(fault.getMessage())).as(what).doesNotContain("(" + rule.name() + ")");
        }
        Shape seen = node.in(rule.input()).shape();
        switch (rule.kind()) {
            case SCALAR -> assertThat(seen.rank()).as(what).isZero();
            case VECTOR, LIST -> assertThat(seen.rank()).as(what).isEqualTo(1);
            case SCALE -> assertThat(seen.rank()).as(what).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void everyOperatorHasRulesOrNeedsNone() {
        Set<String> ruled = new HashSet<>();
        for (OnnxOps.Name operator : OnnxOps.names()) {
            if (!InputRules.of(operator).isEmpty()) {
                ruled.add(operator.toString());
            }
        }
        assertThat(ruled).doesNotContainAnyElementsOf(FREE);
        Set<String> known = new HashSet<>(FREE);
        known.addAll(ruled);
        assertThat(known)
                .containsExactlyInAnyOrderElementsOf(
                        OnnxOps.names().stream().map(OnnxOps.Name::toString).toList());
        assertThat(InputRules.operators()).containsExactlyInAnyOrderElementsOf(ruled);
    }

    @Test
    void indicesOfRulesAreDistinct() {
        for (OnnxOps.Name operator : OnnxOps.names()) {
            int[] inputs = InputRules.of(operator).stream()
                    .mapToInt(InputRules.Rule::input)
                    .toArray();
            assertThat(Arrays.stream(inputs).distinct().count())
                    .as(operator.toString())
                    .isEqualTo(inputs.length);
        }
    }
}
