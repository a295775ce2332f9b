package dev.tenon.cli.bench;

import dev.tenon.core.ir.DType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/**
 * What new sizes of pictures cost on a GPU: {@code VisionTimes MODEL}, with a model of dims height and width as
 * {@code bench/peers/vision_torch.py} writes it. On the machine of a bundle:
 * {@code runtime/bin/java -cp 'lib/*:tests/*:tests/lib/*' dev.tenon.cli.bench.VisionTimes …}.
 */
final class VisionTimes {
    private static final int SIZES = 50;

    private VisionTimes() {}

    public static void main(String[] args) {
        sizes(Path.of(args[0]));
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
