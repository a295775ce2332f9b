package dev.tenon.cli;

import dev.tenon.cli.model.DefaultModel;
import dev.tenon.cli.model.ModelInputs;
import dev.tenon.core.build.ConvOptions;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.PoolOptions;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What the JVM does while it writes an AOT cache: the command given, then a small vision network on the CPU, so that
 * loops of both kinds of models are compiled early at later starts, and plans of the default model for many sizes, so
 * that what plans is.
 */
public final class TrainingRun {
    private static final long SIDE = 256;
    private static final int RUNS = 8;

    /** The JVM's profiles of what a plan does once are full after some hundred. */
    private static final int PLANS = 400;

    private TrainingRun() {}

    /** @param args of a command of {@link Main}, whose output is dropped */
    public static void main(String[] args) {
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = Main.execute(OutputStream.nullOutputStream(), err, args);
        if (code == 0) {
            vision();
            plans(OnnxModel.load(DefaultModel.path()).graph());
        }
        System.exit(code);
    }

    /** Plans of a graph whose named dims vary. */
    static void plans(Graph graph) {
        Set<String> dims = ModelInputs.dims(graph.inputs());
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(graph)) {
            for (int i = 0; i < PLANS; i++) {
                Map<String, Long> sizes = new HashMap<>();
                for (String dim : dims) {
                    sizes.put(dim, sizes.isEmpty() ? 1L + i % 8 : 5L + i / 8);
                }
                model.plan(sizes);
            }
        }
    }

    private static void vision() {
        Graph graph = network();
        Tensor x = Tensor.zeros(graph.inputs().getFirst().type());
        try (Engine engine = Engine.open(Target.cpu());
                CompiledModel model = engine.compile(graph);
                Session session = model.newSession()) {
            for (int i = 0; i < RUNS; i++) {
                session.run(Map.of("x", x)).values().forEach(Tensor::close);
            }
        }
    }

    /** The kinds of layers of classifiers and detectors: strided, depthwise, gated, residual, pooled, enlarged ones. */
    static Graph network() {
        return GraphBuilder.build("training", g -> {
            Layers layers = new Layers(g);
            Value x = g.input("x", TensorType.of(DType.F32, 1, 3, SIDE, SIDE));
            Value stem = g.hardSwish(layers.conv(x, 16, 3, 2, 1));
            Value wide = g.maxPool(
                    g.relu(layers.conv(x, 32, 7, 2, 1)),
                    PoolOptions.of(3, 3).withStrides(2, 2).withPadding(1, 1));
            Value small = g.relu(layers.conv(layers.conv(stem, 16, 3, 1, 16), 32, 1, 1, 1));
            Value smaller = g.hardSwish(layers.conv(layers.conv(small, 32, 5, 2, 32), 32, 1, 1, 1));
            Value gate = g.relu(layers.conv(g.globalAveragePool(smaller), 8, 1, 1, 1));
            Value gated = g.mul(smaller, g.hardSigmoid(layers.conv(gate, 32, 1, 1, 1), 0.2, 0.5));
            Value sum = g.relu(g.add(layers.conv(gated, 32, 3, 1, 1), wide));
            Value large = g.upsample(sum, ResizeMode.NEAREST, 2);
            Value all = g.relu(layers.conv(g.concat(List.of(large, small), 1), 16, 3, 1, 1));
            Value weights = layers.constant(16, 4, 2, 2);
            g.output(
                    "mask",
                    g.sigmoid(
                            g.convTranspose(all, weights, ConvOptions.defaults().withStrides(2, 2))));
            g.output("pooled", g.averagePool(all, PoolOptions.of(2, 2)));
        });
    }

    /** Layers with weights drawn from one sequence. */
    private static final class Layers {
        private final GraphBuilder g;
        private final SplittableRandom random = new SplittableRandom(1);

        Layers(GraphBuilder g) {
            this.g = g;
        }

        Value conv(Value x, long outputs, long kernel, long stride, long groups) {
            ConvOptions options = ConvOptions.defaults()
                    .withStrides(stride, stride)
                    .withPadding(kernel / 2, kernel / 2)
                    .withGroups(groups);
            Value weights = constant(outputs, x.shape().size(1) / groups, kernel, kernel);
            return g.conv(x, weights, constant(outputs), options);
        }

        Value constant(long... sizes) {
            TensorType type = TensorType.of(DType.F32, sizes);
            double[] values = random.doubles(type.shape().elements(), -0.1, 0.1).toArray();
            return g.constant(NdArray.of(type, values).toConstant());
        }
    }
}
