package dev.tenon.cli.bench;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Times for the results of convolutional networks on a GPU, beside {@code bench/peers/vision_torch.py}:
 * {@code VisionTimes convolutions}, or {@code VisionTimes sizes MODEL} with a model of dims height and width. On the
 * machine of a bundle: {@code runtime/bin/java -cp 'lib/*:tests/*:tests/lib/*' dev.tenon.cli.bench.VisionTimes …}.
 */
final class VisionTimes {
    /** Convolutions of one recorded run. */
    private static final int TOGETHER = 20;

    private static final int SIZES = 50;

    private VisionTimes() {}

    public static void main(String[] args) {
        if (args[0].equals("sizes")) {
            sizes(Path.of(args[1]));
            return;
        }
        for (long[] form : new long[][] {
            {1, 64, 224, 64, 3, 1},
            {32, 64, 56, 64, 3, 1},
            {32, 256, 56, 64, 1, 1},
            {32, 256, 14, 256, 3, 1},
            {8, 512, 28, 512, 3, 2},
            {1, 3, 640, 32, 3, 2}
        }) {
            for (DType dtype : List.of(DType.F16, DType.F32)) {
                convolution(form, dtype);
            }
        }
    }

    private static ConstantData noise(DType dtype, long seed, double scale, long... sizes) {
        TensorType type = TensorType.of(dtype, sizes);
        MemorySegment to = HostMemory.allocate(type.bytes(), 64);
        Random random = new Random(seed);
        for (long i = 0; i < type.shape().elements(); i++) {
            Elements.setDouble(dtype, to, i, random.nextGaussian() * scale);
        }
        return new ConstantData.Dense(type, to);
    }

    /** @param form batch, channels, side, outputs, kernel, stride */
    private static void convolution(long[] form, DType dtype) {
        long pad = form[4] / 2;
        Conv conv = new Conv(
                List.of(form[5], form[5]), List.of(pad, pad), List.of(pad, pad), List.of(1L, 1L), 1, Epilogue.NONE);
        TensorType images = TensorType.of(dtype, form[0], form[2], form[2], form[1]);
        Graph graph = GraphBuilder.build("convolutions", g -> {
            Value x = g.input("x", images);
            for (int i = 0; i < TOGETHER; i++) {
                Value w = g.constant(noise(dtype, i, 0.05, form[3], form[4], form[4], form[1]));
                g.output("y" + i, g.add(new ChannelsLastConv(conv), x, w));
            }
        });
        try (Engine engine = Engine.open(Target.parse("cuda"));
                CompiledModel model =
                        engine.compile(graph, CompileOptions.defaults().withExecution(Execution.GRAPH));
                Session session = model.newSession();
                Tensor x = engine.upload(Tensor.wrap(
                        images, noise(dtype, 99, 1, images.shape().sizes()).elements()))) {
            double[] times = new double[31];
            for (int i = -5; i < times.length; i++) {
                long start = System.nanoTime();
                session.runOnDevice(Map.of("x", x)).values().forEach(Tensor::close);
                times[Math.max(0, i)] = (System.nanoTime() - start) / 1e3 / TOGETHER;
            }
            Arrays.sort(times);
            double micros = times[times.length / 2];
            double side = Math.ceilDiv(form[2], form[5]);
            double flops = 2.0 * form[0] * form[3] * form[1] * form[4] * form[4] * side * side;
            System.out.printf(
                    Locale.ROOT,
                    "OURS conv %s %s: %.1f us, %.0f TFLOP/s, %s%n",
                    Arrays.toString(form),
                    dtype,
                    micros,
                    flops / micros / 1e6,
                    model.report().plans().getFirst().steps().getFirst());
        }
    }

    /** 50 sizes in a row on one session: first calls, and later ones against the median of their size. */
    private static void sizes(Path file) {
        try (Engine engine = Engine.open(Target.parse("cuda"));
                CompiledModel model = engine.compile(OnnxModel.load(file).graph());
                Session session = model.newSession()) {
            String name = model.inputs().getFirst().name();
            double[] firsts = new double[SIZES];
            double most = 0;
            int over = 0;
            for (int size = 0; size < SIZES; size++) {
                int height = 192 + 4 * size;
                int width = 192 + 4 * (size * 7 % SIZES);
                Tensor x = Tensor.zeros(DType.F32, 1, 3, height, width);
                double[] times = new double[8];
                for (int i = 0; i < times.length; i++) {
                    long start = System.nanoTime();
                    session.run(Map.of(name, x)).values().forEach(Tensor::close);
                    times[i] = (System.nanoTime() - start) / 1e6;
                }
                firsts[size] = times[0];
                double[] later = Arrays.copyOfRange(times, 1, times.length);
                Arrays.sort(later);
                double ratio = later[later.length - 1] / later[later.length / 2];
                over += ratio > 3 ? 1 : 0;
                most = Math.max(most, ratio);
            }
            double first = firsts[0];
            Arrays.sort(firsts);
            System.out.printf(
                    Locale.ROOT,
                    "OURS sizes: the very first call %.1f ms; first calls of sizes: median %.1f, the three longest %.1f"
                            + " %.1f %.1f ms; sizes with a later call over 3 x their median: %d, the most %.2f x%n",
                    first,
                    firsts[SIZES / 2],
                    firsts[SIZES - 3],
                    firsts[SIZES - 2],
                    firsts[SIZES - 1],
                    over,
                    most);
        }
    }
}
