package dev.tenon.cli.bench;

import dev.tenon.cli.bench.RowBench.Measured;
import dev.tenon.cli.console.Samples;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Copy;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.kernel.RowRule;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Measures the CPU backend's rows, through the engine as programs run them. */
final class CpuRowBench {
    private static final double EPSILON = 1e-5;
    private static final Duration SETTLING = Duration.ofSeconds(10);

    private final Engine engine;
    private final RowRule rule;
    private final DType dtype;
    private final MeasureOptions measuring;

    CpuRowBench(Engine engine, RowRule rule, DType dtype, MeasureOptions measuring) {
        this.engine = engine;
        this.rule = rule;
        this.dtype = dtype;
        this.measuring = measuring;
    }

    /** Rows of that size; the share is of the backend's own copy of as many bytes. */
    Measured measure(long rows, long cols) {
        TensorType type = TensorType.of(dtype, rows, cols);
        try (Arena arena = Arena.ofShared()) {
            Tensor x = Tensor.allocate(arena, type);
            Tensor y = Tensor.allocate(arena, type);
            Random random = new Random(7);
            for (long i = 0; i < rows * cols; i++) {
                Elements.setDouble(dtype, x.segment(), i, random.nextGaussian());
            }
            String[] form = new String[1];
            Samples copy = measure(graph(type, true), x, y, form);
            Samples own = measure(graph(type, false), x, y, form);
            return new Measured(rows, cols, "cpu", form[0], own, own.median(), copy.median(), 2 * type.bytes());
        }
    }

    private Samples measure(Graph graph, Tensor x, Tensor y, String[] form) {
        try (CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            Runnable run = () -> session.runInto(Map.of("x", x), Map.of("y", y));
            engine.settle(run, SETTLING);
            Samples samples = Samples.measure(run, measuring.runs, measuring.seconds);
            form[0] = model.report().plans().getFirst().steps().getFirst().tier();
            return samples;
        }
    }

    private Graph graph(TensorType type, boolean copy) {
        long cols = type.shape().size(1);
        return GraphBuilder.build(copy ? "copy" : "rows", g -> {
            Value x = g.input("x", type);
            if (copy) {
                g.output("y", g.add("copy", new Copy(), List.of(x)).getFirst());
                return;
            }
            Value gamma = g.constant(Tensor.of(dtype, random(cols), cols));
            Value beta = g.constant(Tensor.of(dtype, random(cols), cols));
            g.output(
                    "y",
                    switch (rule) {
                        case SOFTMAX -> g.softmax(x, 1);
                        case LOG_SOFTMAX -> g.logSoftmax(x, 1);
                        case LAYER_NORM -> g.layerNorm(x, gamma, beta, EPSILON);
                        case RMS_NORM -> g.rmsNorm(x, gamma, EPSILON);
                    });
        });
    }

    private static double[] random(long count) {
        return new Random(11).doubles(count, 0.5, 1.5).toArray();
    }
}
