package dev.tenon.core.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.fusion.FuseElementwise;
import dev.tenon.core.compiler.fusion.FuseEpilogues;
import dev.tenon.core.compiler.rewrite.DeadCode;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rule.Canonicalise;
import dev.tenon.core.compiler.rule.SpelledForms;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Each rewrite: the operations before, and after. */
final class RulesTest {
    /** The mnemonics of what is left of a graph over {@code x: f32[3,4]}. */
    private static List<String> ops(Pass pass, BiFunction<GraphBuilder, Value, Value> body) {
        PassContext context = new PassContext(node -> false, null);
        return ops(new DeadCode().apply(pass.apply(graph(body), context), context));
    }

    private static Graph graph(BiFunction<GraphBuilder, Value, Value> body) {
        return GraphBuilder.build(
                "test", g -> g.output("y", body.apply(g, g.input("x", DType.F32, Dim.of(3), Dim.of(4)))));
    }

    private static List<String> ops(Graph graph) {
        return graph.nodes().stream().map(node -> node.op().mnemonic()).toList();
    }

    private static Value constant(GraphBuilder g, long... sizes) {
        NdArray array = NdArray.zeros(DType.F32, sizes);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, i * 0.25 - 1);
        }
        return g.constant(array.toConstant());
    }

    @Test
    void castsThereAndBackGoWhereNothingIsLost() {
        Canonicalise pass = new Canonicalise();
        assertThat(ops(pass, (g, x) -> g.cast(g.cast(x, DType.F64), DType.F32))).isEmpty();
        assertThat(ops(pass, (g, x) -> g.cast(g.cast(g.cast(x, DType.F16), DType.F32), DType.F16)))
                .containsExactly("cast");
        assertThat(ops(pass, (g, x) -> g.cast(g.cast(x, DType.F16), DType.F32))).containsExactly("cast", "cast");
        assertThat(ops(pass, (g, x) -> g.cast(g.cast(g.cast(x, DType.BF16), DType.F16), DType.BF16)))
                .containsExactly("cast", "cast", "cast");
    }

    @Test
    void castsOfInputsStandBehindReshapes() {
        Canonicalise pass = new Canonicalise();
        assertThat(ops(pass, (g, x) -> g.neg(g.reshape(g.cast(x, DType.F64), 2, 6))))
                .containsExactly("reshape", "cast", "unary");
        assertThat(ops(pass, (g, x) -> g.reshape(g.cast(g.neg(x), DType.F64), 2, 6)))
                .containsExactly("unary", "cast", "reshape");
        assertThat(ops(pass, (g, x) -> {
                    Value shared = g.cast(x, DType.F64);
                    return g.mul(g.reshape(g.neg(shared), 12), g.reshape(shared, 12));
                }))
                .containsExactly("cast", "unary", "reshape", "reshape", "binary");
    }

    @Test
    void reshapesOfUnknownRankStay() {
        Graph graph = GraphBuilder.build("test", g -> {
            Value x = g.input("x", new TensorType(DType.F32, Shape.unranked()));
            g.output("y", g.reshape(g.transpose(g.reshape(x, 8, 3, 5), 0, 2, 1), 4, 2, 5, 3));
        });
        assertThat(ops(new Canonicalise().apply(graph, new PassContext(node -> false, null))))
                .containsExactly("reshape", "transpose", "reshape");
    }

    @Test
    void transposesOfMergedAxesAreTransposes() {
        PassContext context = new PassContext(node -> false, null);
        BiFunction<List<Long>, List<Integer>, List<String>> ops = (last, permutation) -> ops(new Canonicalise()
                .apply(
                        GraphBuilder.build("test", g -> {
                            Value x = g.input("x", TensorType.of(DType.F32, 4, 2, 3, 5));
                            Value merged = g.reshape(x, 8, 3, 5);
                            int[] axes = permutation.stream()
                                    .mapToInt(Integer::intValue)
                                    .toArray();
                            Value turned = g.transpose(merged, axes);
                            g.output(
                                    "y",
                                    g.reshape(
                                            turned,
                                            last.stream()
                                                    .mapToLong(Long::longValue)
                                                    .toArray()));
                        }),
                        context));
        assertThat(ops.apply(List.of(4L, 2L, 5L, 3L), List.of(0, 2, 1))).containsExactly("transpose");
        // taken apart otherwise, or merged axes that move
        assertThat(ops.apply(List.of(2L, 4L, 5L, 3L), List.of(0, 2, 1))).contains("reshape");
        assertThat(ops.apply(List.of(5L, 3L, 4L, 2L), List.of(2, 1, 0))).contains("reshape");
    }

    @Test
    void safeIdentitiesGo() {
        assertThat(ops(new Canonicalise(), (g, x) -> g.mul(x, g.scalar(DType.F32, 1))))
                .isEmpty();
        assertThat(ops(new Canonicalise(), (g, x) -> g.div(x, g.scalar(DType.F32, 1))))
                .isEmpty();
        assertThat(ops(new Canonicalise(), (g, x) -> g.sub(x, g.scalar(DType.F32, 0))))
                .isEmpty();
        assertThat(ops(new Canonicalise(), (g, x) -> g.reshape(x, 3, 4))).isEmpty();
        assertThat(ops(new Canonicalise(), (g, x) -> g.transpose(g.transpose(x, 1, 0), 1, 0)))
                .isEmpty();
        assertThat(ops(new Canonicalise(), (g, x) -> g.reshape(g.reshape(x, 2, 6), 12)))
                .containsExactly("reshape");
    }

    /** AL-01: none of these holds for NaN, infinities or -0. */
    @Test
    void unsafeIdentitiesStay() {
        assertThat(ops(new Canonicalise(), (g, x) -> g.mul(x, g.scalar(DType.F32, 0))))
                .containsExactly("binary");
        assertThat(ops(new Canonicalise(), (g, x) -> g.add(x, g.scalar(DType.F32, 0))))
                .containsExactly("binary");
        assertThat(ops(new Canonicalise(), (g, x) -> g.sub(x, g.scalar(DType.F32, -0.0))))
                .containsExactly("binary");
        assertThat(ops(new Canonicalise(), (g, x) -> g.sub(x, x))).containsExactly("binary");
        assertThat(ops(new Canonicalise(), (g, x) -> g.div(x, x))).containsExactly("binary");
        assertThat(ops(new Canonicalise(), (g, x) -> g.binary(BinaryFn.MAX, x, x)))
                .containsExactly("binary");
    }

    @Test
    void anIdentityThatBroadcastsStays() {
        assertThat(ops(
                        new Canonicalise(),
                        (g, x) -> g.mul(g.slice(x, 0, 0, 1), g.expand(g.scalar(DType.F32, 1), 3, 4))))
                .contains("binary");
    }

    @Test
    void squaresAreProducts() {
        Graph graph = new Canonicalise()
                .apply(
                        graph((g, x) -> g.binary(BinaryFn.POW, x, g.scalar(DType.F32, 2))),
                        new PassContext(node -> false, null));
        assertThat(graph.nodes()).hasSize(1);
        assertThat(graph.nodes().getFirst().op()).isEqualTo(new dev.tenon.core.ir.op.elementwise.Binary(BinaryFn.MUL));
    }

    @Test
    void transposedOperandsBecomeFlags() {
        Graph graph = new Canonicalise()
                .apply(graph((g, x) -> g.matmul(x, g.transpose(x, 1, 0))), new PassContext(node -> false, null));
        assertThat(ops(graph)).containsExactly("mat_mul");
        assertThat(((MatMul) graph.nodes().getFirst().op()).transposeB()).isTrue();
    }

    @Test
    void lookUpsComeBeforeDequantisation() {
        List<String> ops = ops(new Canonicalise(), (g, x) -> {
            Value table = g.constant(
                    NdArray.of(TensorType.of(DType.U8, 5, 4), new long[20]).toConstant());
            Value wide = g.add(new Dequantize(0, 0, false), table, g.scalar(DType.F32, 0.5));
            return g.add(x, g.gather(wide, g.constant(NdArray.ofLongs(0, 2, 4).toConstant()), 0));
        });
        assertThat(ops).containsExactly("gather", "dequantize", "binary");
    }

    @Test
    void equalExpressionsAreComputedOnce() {
        assertThat(ops(
                        new CommonSubexpressions(),
                        (g, x) -> g.add(
                                g.mul(g.relu(x), g.scalar(DType.F32, 2)), g.mul(g.relu(x), g.scalar(DType.F32, 2)))))
                .containsExactly("unary", "binary", "binary");
    }

    @Test
    void biasActivationAndResidualJoinTheProduct() {
        Graph graph = new FuseEpilogues()
                .apply(
                        graph((g, x) -> g.add(x, g.relu(g.add(g.matmul(x, constant(g, 4, 4)), constant(g, 4))))),
                        new PassContext(node -> false, null));
        assertThat(ops(graph)).containsExactly("mat_mul");
        MatMul op = (MatMul) graph.nodes().getFirst().op();
        assertThat(op.epilogue().bias()).isTrue();
        assertThat(op.epilogue().residual()).isTrue();
        assertThat(op.epilogue().activation()).isNotNull();
        assertThat(graph.nodes().getFirst().inputs()).hasSize(4);
    }

    @Test
    void aProductWithTwoConsumersKeepsItsResult() {
        assertThat(ops(new FuseEpilogues(), (g, x) -> {
                    Value product = g.matmul(x, constant(g, 4, 4));
                    return g.add(g.relu(product), product);
                }))
                .contains("unary");
    }

    @Test
    void elementwiseNodesBecomeOneRegion() {
        Graph graph = FuseElementwise.ofPlan()
                .apply(
                        graph((g, x) -> g.mul(g.add(g.unary(UnaryFn.EXP, x), constant(g, 4)), x)),
                        new PassContext(node -> false, null));
        assertThat(ops(graph)).containsExactly("region");
        assertThat(((Region) graph.nodes().getFirst().op()).steps()).hasSize(3);
        assertThat(graph.nodes().getFirst().inputs()).hasSize(2);
    }

    @Test
    void regionsEndAtOutputsReductionsAndOtherShapes() {
        assertThat(ops(FuseElementwise.ofPlan(), (g, x) -> {
                    Value exp = g.unary(UnaryFn.EXP, x);
                    g.output("exp", exp);
                    return g.mul(exp, exp);
                }))
                .containsExactly("unary", "binary");
        assertThat(ops(
                        FuseElementwise.ofPlan(),
                        (g, x) -> g.div(x, g.unary(UnaryFn.SQRT, g.reduce(ReduceFn.SUM, x, true, 1)))))
                .containsExactly("reduce", "unary", "binary");
    }

    @Test
    void spelledGelu() {
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value erf = g.unary(UnaryFn.ERF, g.div(x, g.scalar(DType.F32, Math.sqrt(2))));
                    return g.mul(g.mul(x, g.add(erf, g.scalar(DType.F32, 1))), g.scalar(DType.F32, 0.5));
                }))
                .containsExactly("unary");
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value erf = g.unary(UnaryFn.ERF, g.div(x, g.scalar(DType.F32, 1.5)));
                    return g.mul(g.mul(x, g.add(erf, g.scalar(DType.F32, 1))), g.scalar(DType.F32, 0.5));
                }))
                .hasSize(5);
    }

    @Test
    void spelledHardSwish() {
        Unary clip = new Unary(UnaryFn.CLIP, 0, 6);
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value gate = g.add("", clip, List.of(g.add(x, g.scalar(DType.F32, 3))))
                            .getFirst();
                    return g.div(g.mul(x, gate), g.scalar(DType.F32, 6));
                }))
                .containsExactly("unary");
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value gate = g.add("", clip, List.of(g.add(g.scalar(DType.F32, 3), x)))
                            .getFirst();
                    return g.mul(g.div(gate, g.scalar(DType.F32, 6)), x);
                }))
                .containsExactly("unary");
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value gate = g.add("", clip, List.of(g.add(x, g.scalar(DType.F32, 2))))
                            .getFirst();
                    return g.div(g.mul(x, gate), g.scalar(DType.F32, 6));
                }))
                .hasSize(4);
    }

    @Test
    void spelledLayerNorm() {
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value d = g.sub(x, g.reduce(ReduceFn.MEAN, x, true, -1));
                    Value root = g.unary(
                            UnaryFn.SQRT,
                            g.add(g.reduce(ReduceFn.MEAN, g.mul(d, d), true, -1), g.scalar(DType.F32, 1e-5)));
                    return g.add(g.mul(g.div(d, root), constant(g, 4)), constant(g, 4));
                }))
                .containsExactly("layer_norm");
    }

    /** A root of a negative number is NaN, and no norm. */
    @Test
    void spelledNormsOfNegativeEpsilonStay() {
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value d = g.sub(x, g.reduce(ReduceFn.MEAN, x, true, -1));
                    return g.add(g.mul(g.div(d, root(g, d, -1)), constant(g, 4)), constant(g, 4));
                }))
                .doesNotContain("layer_norm", "rms_norm");
        assertThat(ops(new SpelledForms(), (g, x) -> g.div(x, root(g, x, Double.NaN))))
                .doesNotContain("rms_norm");
    }

    private static Value meanOfSquares(GraphBuilder g, Value x, double epsilon) {
        return g.add(g.reduce(ReduceFn.MEAN, g.mul(x, x), true, -1), g.scalar(x.dtype(), epsilon));
    }

    private static Value root(GraphBuilder g, Value x, double epsilon) {
        return g.unary(UnaryFn.SQRT, meanOfSquares(g, x, epsilon));
    }

    @Test
    void spelledRmsNorm() {
        List<BiFunction<GraphBuilder, Value, Value>> spellings = List.of(
                (g, x) -> g.div(x, root(g, x, 1e-5)),
                (g, x) -> g.mul(x, g.div(g.scalar(DType.F32, 1), root(g, x, 1e-5))),
                (g, x) -> g.mul(g.unary(UnaryFn.RECIPROCAL, root(g, x, 1e-5)), x),
                (g, x) -> g.mul(x, g.unary(UnaryFn.RSQRT, meanOfSquares(g, x, 1e-5))));
        for (BiFunction<GraphBuilder, Value, Value> spelling : spellings) {
            for (BiFunction<GraphBuilder, Value, Value> whole : List.<BiFunction<GraphBuilder, Value, Value>>of(
                    spelling,
                    (g, x) -> g.mul(spelling.apply(g, x), constant(g, 4)),
                    (g, x) -> g.mul(constant(g, 1, 4), spelling.apply(g, x)))) {
                Graph graph = graph(whole);
                PassContext context = new PassContext(node -> false, null);
                Graph after = new DeadCode().apply(new SpelledForms().apply(graph, context), context);
                assertThat(ops(after).stream().filter(op -> !op.equals("reshape")))
                        .containsExactly("rms_norm");
                Planned.assertSame(graph, after, Planned.inputs(graph, 3));
            }
        }
    }

    @Test
    void otherRootsAreNoRmsNorm() {
        assertThat(ops(new SpelledForms(), (g, x) -> g.div(x, root(g, g.unary(UnaryFn.TANH, x), 1e-5))))
                .doesNotContain("rms_norm");
        assertThat(ops(new SpelledForms(), (g, x) -> g.div(root(g, x, 1e-5), x)))
                .doesNotContain("rms_norm");
        assertThat(ops(new SpelledForms(), (g, x) -> g.mul(x, root(g, x, 1e-5))))
                .doesNotContain("rms_norm");
        assertThat(ops(new SpelledForms(), (g, x) -> {
                    Value factor = g.div(g.scalar(DType.F32, 2), root(g, x, 1e-5));
                    return g.mul(x, factor);
                }))
                .doesNotContain("rms_norm");
        assertThat(ops(new SpelledForms(), (g, x) -> g.mul(constant(g, 3, 1), g.div(x, root(g, x, 1e-5)))))
                .contains("rms_norm", "binary");
    }

    /** What exporters of models in 16 bits write, whose sums are of f32. */
    @Test
    void spelledRmsNormBetweenCasts() {
        for (DType narrow : List.of(DType.F16, DType.BF16, DType.F64)) {
            Graph graph = GraphBuilder.build("test", g -> {
                Value x = g.input("x", narrow, Dim.of(3), Dim.of(4));
                Value wide = g.cast(x, DType.F32);
                Value normed = g.mul(wide, g.div(g.scalar(DType.F32, 1), root(g, wide, 1e-5)));
                g.output("y", g.mul(g.cast(constant(g, 4), narrow), g.cast(normed, narrow)));
            });
            PassContext context = new PassContext(node -> false, null);
            Graph after = new DeadCode().apply(new SpelledForms().apply(graph, context), context);
            if (narrow == DType.F64) {
                assertThat(ops(after)).contains("rms_norm", "binary");
            } else {
                assertThat(ops(after)).containsExactly("cast", "rms_norm");
            }
            NdArray expected = Interpreter.run(graph, Planned.inputs(graph, 4)).get("y");
            Tolerance.of(narrow, 4)
                    .check(
                            after.toString(),
                            expected,
                            Interpreter.run(after, Planned.inputs(graph, 4)).get("y"));
        }
    }
}
