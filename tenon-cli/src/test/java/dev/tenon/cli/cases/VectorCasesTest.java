package dev.tenon.cli.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VectorCasesTest {
    /** The child of all tests here: every width from 0 to 67, cold and hot, against scalar loops. */
    static final class Widths {
        private static final Graph GRAPH = GraphBuilder.build("widths", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            var y = g.input("y", DType.F32, Dim.named("n"));
            g.output("add", g.add(x, y));
            g.output("exp", g.unary(UnaryFn.EXP, x));
            g.output("max", g.binary(BinaryFn.MAX, x, y));
            g.output("min", g.binary(BinaryFn.MIN, x, y));
            g.output("sum", g.reduce(ReduceFn.SUM, x, false, 0));
        });

        /** Apart, because they have no result for a width of 0. */
        private static final Graph EXTREMES = GraphBuilder.build("extremes", g -> {
            var x = g.input("x", DType.F32, Dim.named("n"));
            g.output("max", g.reduce(ReduceFn.MAX, x, false, 0));
            g.output("min", g.reduce(ReduceFn.MIN, x, false, 0));
        });

        private final Session session;
        private final Session extremes;

        private Widths(Session session, Session extremes) {
            this.session = session;
            this.extremes = extremes;
        }

        public static void main(String[] args) {
            CompileOptions options = CompileOptions.defaults().withMaxPlans(100);
            try (Engine runtime =
                            Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(1));
                    CompiledModel model = runtime.compile(GRAPH, Weights.none(), options);
                    CompiledModel extremes = runtime.compile(EXTREMES, Weights.none(), options);
                    Session session = model.newSession();
                    Session extremesSession = extremes.newSession()) {
                Widths widths = new Widths(session, extremesSession);
                widths.all();
                for (int variant = 0; variant < 4; variant++) {
                    Map<String, Tensor> inputs = inputs(17 + variant, variant, variant % 2 == 0);
                    for (int i = 0; i < 5_000; i++) {
                        widths.run(inputs);
                    }
                }
                widths.all();
            }
            System.out.println("all widths");
        }

        private void all() {
            for (int n = 0; n <= 67; n++) {
                for (int offset = 0; offset < 4; offset++) {
                    check(n, offset, false);
                    check(n, offset, true);
                }
            }
            try {
                extremes.run(Map.of("x", Tensor.zeros(DType.F32, 0)));
                throw new AssertionError("the maximum of nothing");
            } catch (TenonException e) {
                assertThat(e).hasMessageContaining("empty");
            }
        }

        private static Map<String, Tensor> inputs(int n, int offset, boolean special) {
            double[] x = new double[n];
            double[] y = new double[n];
            for (int i = 0; i < n; i++) {
                x[i] = (float) Math.sin(1 + i * 1.7 + n);
                y[i] = (float) Math.cos(1 + i * 0.9 - n);
            }
            if (special && n > 0) {
                x[n - 1] = -0.0;
                y[n - 1] = 0.0;
                x[n / 2] = Double.NaN;
                y[n / 3] = Double.NaN;
            }
            Map<String, Tensor> inputs = new LinkedHashMap<>();
            inputs.put("x", Cpu.guarded(Cpu.f32(x), 4L * offset));
            inputs.put("y", Cpu.guarded(Cpu.f32(y), 4L * offset));
            return inputs;
        }

        private Map<String, Tensor> run(Map<String, Tensor> inputs) {
            Map<String, Tensor> all = new LinkedHashMap<>(session.run(inputs));
            if (inputs.get("x").elements() > 0) {
                extremes.run(Map.of("x", inputs.get("x"))).forEach((name, tensor) -> all.put("reduce " + name, tensor));
            }
            all.putAll(inputs);
            return all;
        }

        private void check(int n, int offset, boolean special) {
            Map<String, Tensor> all = run(inputs(n, offset, special));
            float[] x = all.get("x").toFloats();
            float[] y = all.get("y").toFloats();
            double[] add = new double[n];
            double[] exp = new double[n];
            double[] max = new double[n];
            double[] min = new double[n];
            double sum = 0;
            float most = Float.NEGATIVE_INFINITY;
            float least = Float.POSITIVE_INFINITY;
            for (int i = 0; i < n; i++) {
                add[i] = x[i] + y[i];
                exp[i] = (float) Math.exp(x[i]);
                max[i] = Math.max(x[i], y[i]);
                min[i] = Math.min(x[i], y[i]);
                sum += x[i];
                most = Math.max(most, x[i]);
                least = Math.min(least, x[i]);
            }
            Cpu.exactly(all.get("add"), Cpu.sizes(n), add);
            Cpu.exactly(all.get("max"), Cpu.sizes(n), max);
            Cpu.exactly(all.get("min"), Cpu.sizes(n), min);
            Cpu.within(all.get("exp"), 3e-7, 0, exp);
            Cpu.within(all.get("sum"), 0, n * 0x1p-23, sum);
            if (n > 0) {
                Cpu.within(all.get("reduce max"), 0, 0, most);
                Cpu.within(all.get("reduce min"), 0, 0, least);
            }
        }
    }

    private static final String NOTICE = "the CPU backend runs scalar loops";

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseCompressedOops", "-XX:MaxVectorSize=8", "-XX:TieredStopAtLevel=1"})
    @DisplayName("VA-01 every width, cold and hot, with short vectors and without the second compiler")
    void flags(String flag) throws Exception {
        Jvm.Result result = Jvm.run(Widths.class, flag);
        assertThat(result.err()).isEmpty();
        assertThat(result.out().strip()).isEqualTo("all widths");
        assertThat(result.code()).isZero();
    }

    @Test
    @DisplayName("VA-01 every width without the vector module, with one notice")
    void withoutModule() throws Exception {
        try (Jvm jvm = Jvm.start(Widths.class, Map.of(), false)) {
            Jvm.Result result = jvm.await(120);
            assertThat(result.out().strip()).isEqualTo("all widths");
            assertThat(result.err().lines().filter(line -> line.contains(NOTICE)))
                    .hasSize(1);
            assertThat(result.err().lines()).hasSizeLessThanOrEqualTo(2);
            assertThat(result.code()).isZero();
        }
    }

    @Test
    @DisplayName("VA-01 maximum and minimum of NaN and of zeros of both signs")
    void extremes() {
        Cpu.Body both = (g, x) -> java.util.List.of(
                g.reduce(ReduceFn.MAX, x.getFirst(), false, 0), g.reduce(ReduceFn.MIN, x.getFirst(), false, 0));
        Cpu.check(both, java.util.List.of(Cpu.f32(1, Double.NaN, 2)), y -> {
            Cpu.exactly(y.get(0), Cpu.sizes(), Double.NaN);
            Cpu.exactly(y.get(1), Cpu.sizes(), Double.NaN);
        });
        Cpu.check(both, java.util.List.of(Cpu.f32(-0.0, 0.0)), y -> {
            Cpu.exactly(y.get(0), Cpu.sizes(), 0.0);
            Cpu.exactly(y.get(1), Cpu.sizes(), -0.0);
        });
    }
}
