package dev.tenon.cli.cases;

import static dev.tenon.cli.cases.Cpu.f32;
import static dev.tenon.cli.cases.Cpu.sizes;
import static java.lang.Double.NEGATIVE_INFINITY;
import static java.lang.Double.NaN;
import static java.lang.Double.POSITIVE_INFINITY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class CompilerCasesTest {
    private static final Tensor SPECIAL = f32(NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 1, -0.0);

    /** {@link Cpu#check} compares optimised and unoptimised results bit by bit. */
    private static void special(java.util.function.BiFunction<GraphBuilder, Value, Value> body, double... expected) {
        Cpu.check(
                (g, x) -> List.of(body.apply(g, x.getFirst())),
                List.of(SPECIAL),
                y -> Cpu.exactly(y.getFirst(), sizes(expected.length), expected));
    }

    @Test
    @DisplayName("AL-01 no rewrite loses a NaN, an infinity or a zero's sign")
    void algebra() {
        special((g, x) -> g.mul(x, g.scalar(DType.F32, 0)), NaN, NaN, NaN, 0, -0.0);
        special((g, x) -> g.sub(x, x), NaN, NaN, NaN, 0, 0);
        special((g, x) -> g.div(x, x), NaN, NaN, NaN, 1, NaN);
        special((g, x) -> g.compare(CompareFn.EQ, x, x), 0, 1, 1, 1, 1);
        special((g, x) -> g.add(x, g.scalar(DType.F32, 0)), NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 1, 0.0);
        special((g, x) -> g.sub(g.scalar(DType.F32, 0), x), NaN, NEGATIVE_INFINITY, POSITIVE_INFINITY, -1, 0.0);
        special((g, x) -> g.mul(x, g.scalar(DType.F32, 1)), NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 1, -0.0);
        special((g, x) -> g.binary(BinaryFn.MAX, x, x), NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 1, -0.0);
        special((g, x) -> g.binary(BinaryFn.MIN, x, g.scalar(DType.F32, 1)), NaN, 1, NEGATIVE_INFINITY, 1, -0.0);
        Cpu.check(
                (g, x) -> List.of(g.relu(x.getFirst())),
                List.of(f32(NaN, -1, 2)),
                y -> Cpu.exactly(y.getFirst(), sizes(3), NaN, 0, 2));
    }

    @Test
    @DisplayName("AL-01 where selects, and integers times 0 are 0")
    void selection() {
        Cpu.check(
                (g, x) -> List.of(g.where(x.get(0), g.scalar(DType.F32, 1), x.get(1))),
                List.of(Tensor.of(new boolean[] {true, false}, 2, 1), f32(NaN, 2, POSITIVE_INFINITY)),
                y -> Cpu.exactly(y.getFirst(), sizes(2, 3), 1, 1, 1, NaN, 2, POSITIVE_INFINITY));
        Cpu.check(
                (g, x) -> List.of(g.mul(x.getFirst(), g.scalar(DType.I32, 0))),
                List.of(Cpu.i32(5, -7, Integer.MIN_VALUE)),
                y -> Cpu.exactly(y.getFirst(), sizes(3), 0, 0, 0));
    }

    @Test
    @DisplayName("AL-01 forms that the compiler fuses give the unoptimised bits on special values")
    void fusedForms() {
        Cpu.check(
                (g, x) -> {
                    Value v = x.getFirst();
                    Value doubled = g.add(v, v);
                    Value mixed = g.sub(g.mul(doubled, g.scalar(DType.F32, 0.5)), g.unary(UnaryFn.ABS, v));
                    Value chosen = g.where(g.compare(CompareFn.GT, v, g.scalar(DType.F32, 0)), mixed, doubled);
                    return List.of(chosen, g.unary(UnaryFn.NEG, g.unary(UnaryFn.NEG, v)), g.relu(g.relu(v)));
                },
                List.of(SPECIAL),
                y -> {
                    Cpu.exactly(y.get(0), sizes(5), NaN, NaN, NEGATIVE_INFINITY, 0, -0.0);
                    Cpu.exactly(y.get(1), sizes(5), NaN, POSITIVE_INFINITY, NEGATIVE_INFINITY, 1, -0.0);
                });
    }

    private static final Graph SHARED = GraphBuilder.build("shared", g -> {
        Value x = g.input("x", DType.F32, dev.tenon.core.ir.Dim.of(2), dev.tenon.core.ir.Dim.of(2));
        Value a = g.relu(x);
        g.output("a", a);
        g.output("b", g.add(a, g.scalar(DType.F32, 1)));
        g.output("c", g.mul(a, g.scalar(DType.F32, 2)));
        g.output("d", g.transpose(a, 1, 0));
        // a result that nobody uses
        g.output("top", g.addAll(new TopK(1, 1, true, true), List.of(a)).getFirst());
        // x read after f(x), whose memory it must not be
        g.output("residual", g.add(g.unary(UnaryFn.NEG, g.relu(x)), x));
    });

    private static List<CompileOptions> everyWay() {
        List<CompileOptions> ways = new ArrayList<>();
        for (boolean optimise : new boolean[] {true, false}) {
            for (boolean share : new boolean[] {true, false}) {
                ways.add(CompileOptions.defaults()
                        .withCompiler(CompilerOptions.defaults()
                                .withOptimise(optimise)
                                .withShareMemory(share)));
            }
        }
        return ways;
    }

    @Test
    @DisplayName("BP-01 no value is overwritten while it is needed; the input never is")
    void memory() {
        for (CompileOptions way : everyWay()) {
            for (int threads : new int[] {1, 4}) {
                Tensor x = f32(sizes(2, 2), -1, 2, 3, -4);
                Map<String, Tensor> y = Cpu.run(SHARED, Map.of("x", x), threads, way);
                Cpu.exactly(y.get("a"), sizes(2, 2), 0, 2, 3, 0);
                Cpu.exactly(y.get("b"), sizes(2, 2), 1, 3, 4, 1);
                Cpu.exactly(y.get("c"), sizes(2, 2), 0, 4, 6, 0);
                Cpu.exactly(y.get("d"), sizes(2, 2), 0, 3, 2, 0);
                Cpu.exactly(y.get("top"), sizes(2, 1), 2, 3);
                Cpu.within(y.get("residual"), 0, 0, -1, 0, 0, -4);
                Cpu.exactly(x, sizes(2, 2), -1, 2, 3, -4);
            }
        }
    }

    /** Layers with residuals, views and values of many lifetimes. */
    private static Graph deep() {
        return GraphBuilder.build("deep", g -> {
            Value x = g.input("x", DType.F32, dev.tenon.core.ir.Dim.of(12), dev.tenon.core.ir.Dim.of(16));
            Value w = g.input("w", DType.F32, dev.tenon.core.ir.Dim.of(16), dev.tenon.core.ir.Dim.of(16));
            Value kept = g.softmax(x, 1);
            Value h = x;
            for (int layer = 0; layer < 6; layer++) {
                Value product = g.unary(UnaryFn.GELU_TANH, g.matmul(h, w));
                Value turned = g.transpose(g.reshape(product, 12, 4, 4), 0, 2, 1);
                Value back = g.reshape(turned, 12, 16);
                h = g.add(g.add(back, h), layer % 2 == 0 ? kept : product);
                if (layer == 2) {
                    g.output("middle", back);
                    kept = g.concat(List.of(g.slice(h, 0, 6, 12), g.slice(h, 0, 0, 6)), 0);
                }
            }
            g.output("h", h);
            g.output("kept", kept);
        });
    }

    @Test
    @DisplayName("BP-01 sharing memory changes no bit")
    void sharing() {
        java.util.SplittableRandom random = new java.util.SplittableRandom(5);
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        inputs.put("x", f32(sizes(12, 16), random.doubles(192, -1, 1).toArray()));
        inputs.put("w", f32(sizes(16, 16), random.doubles(256, -0.3, 0.3).toArray()));
        double[] before = inputs.get("x").toDoubles();
        for (boolean optimise : new boolean[] {true, false}) {
            CompilerOptions compiler = CompilerOptions.defaults().withOptimise(optimise);
            List<Map<String, Tensor>> results = new ArrayList<>();
            for (boolean share : new boolean[] {true, false}) {
                CompileOptions options = CompileOptions.defaults().withCompiler(compiler.withShareMemory(share));
                results.add(Cpu.run(deep(), inputs, 2, options));
            }
            results.getFirst()
                    .forEach((name, tensor) ->
                            Cpu.sameBits(name, tensor, results.getLast().get(name)));
        }
        assertThat(inputs.get("x").toDoubles()).containsExactly(before);
    }
}
