package dev.tenon.cli.profile;

import dev.tenon.cli.console.Samples;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.timing.Ceilings;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/** Measures a device by models of one step each, as users' models run there. */
final class Calibration {
    private static final int RUNS = 12;
    private static final CompileOptions STRICT = CompileOptions.defaults().withPrecision(Precision.STRICT);
    private static final CompileOptions FAST = CompileOptions.defaults().withPrecision(Precision.FAST);

    private static final int CHAIN = 64;
    private static final Duration SETTLING = Duration.ofSeconds(20);
    private static final double LEAST_MICROS = 0.01;

    private final Engine engine;
    private final Consumer<String> progress;
    private final boolean cpu;

    Calibration(Engine engine, Consumer<String> progress) {
        this.engine = engine;
        this.progress = progress;
        this.cpu = engine.target().equals(Target.cpu());
    }

    Ceilings measure() {
        return new Ceilings(
                copy(),
                product("f32 products, strict", STRICT),
                product("f32 products, fast", FAST),
                product("f16 products", FAST.withWeightType(WeightType.F16)),
                step(),
                roundTrip());
    }

    /** From one small step to the next: what so many of them in a row take, beyond one. */
    private double step() {
        progress.accept("small steps …");
        double micros = (chain(CHAIN + 1) - chain(1)) / CHAIN;
        return Math.max(micros, LEAST_MICROS);
    }

    private double chain(int steps) {
        Graph graph = GraphBuilder.build("chain", g -> {
            Value value = g.input("x", DType.F32, 32, 32);
            for (int i = 0; i < steps; i++) {
                value = i % 2 == 0 ? g.softmax(value, -1) : g.transpose(value, 1, 0); // nothing that is fused
            }
            g.output("y", value);
        });
        Map<String, Tensor> input = Map.of("x", ramp(32, 32));
        try (CompiledModel compiled = engine.compile(graph, STRICT.withExecution(Execution.graph()));
                Session session = compiled.newSession()) {
            return Samples.measure(() -> session.run(input), 100, 0.1).median();
        }
    }

    private double copy() {
        progress.accept("copying …");
        long elements = cpu ? 32 << 20 : 128 << 20;
        Graph graph = GraphBuilder.build("copy", g -> {
            Value changed = g.neg(g.input("x", DType.F32, elements));
            g.output("y", g.gather(changed, g.constant(Tensor.of(new long[] {0}, 1)), 0)); // little comes back
        });
        return fastest(
                graph,
                STRICT,
                Tensor.zeros(DType.F32, elements),
                step -> step.report().cost().bytes());
    }

    private double product(String what, CompileOptions options) {
        progress.accept(what + " …");
        int rows = cpu ? 1024 : 8192;
        int inner = cpu ? 1024 : 4096;
        Tensor weight = ramp(inner, inner);
        Graph graph = GraphBuilder.build("product", g -> {
            Value product = g.matmul(g.input("x", DType.F32, rows, inner), g.constant(weight));
            g.output("y", g.gather(product, g.constant(Tensor.of(new long[] {0}, 1)), 0));
        });
        return fastest(
                graph, options, ramp(rows, inner), step -> step.report().cost().operations());
    }

    private static Tensor ramp(int rows, int columns) {
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = (i % 251 - 125) / 125f;
        }
        return Tensor.of(values, rows, columns);
    }

    /** Billions a second of what the step does that does most of it. */
    private double fastest(
            Graph graph, CompileOptions options, Tensor input, ToDoubleFunction<RunProfile.Step> amount) {
        try (CompiledModel compiled = engine.compile(graph, options);
                Session session = compiled.newSession();
                Tensor there = engine.upload(input)) {
            boolean _ = engine.settle(() -> session.run(Map.of("x", there)), SETTLING); // best, not first
            double best = 0;
            for (int run = 0; run < RUNS; run++) {
                RunProfile profile = session.runProfiled(Map.of("x", there)).profile();
                for (RunProfile.Step step : profile.steps()) {
                    best = Math.max(
                            best, amount.applyAsDouble(step) / step.span().micros() / 1e3);
                }
            }
            return best;
        }
    }

    private double roundTrip() {
        progress.accept("one step on one element …");
        Graph graph = GraphBuilder.build("one", g -> g.output("y", g.neg(g.input("x", DType.F32, 1))));
        Map<String, Tensor> input = Map.of("x", Tensor.of(new float[] {1}, 1));
        try (CompiledModel compiled = engine.compile(graph, STRICT);
                Session session = compiled.newSession()) {
            return Samples.measure(() -> session.run(input), 100, 0.1).median();
        }
    }
}
