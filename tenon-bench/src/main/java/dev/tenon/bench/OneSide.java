package dev.tenon.bench;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A model on one engine in a process of its own: {@code OneSide tenon|onnxruntime MODEL SHAPE THREADS SECONDS}. Prints
 * the median of its runs in milliseconds, and how many processors other processes kept busy meanwhile: where that is
 * more than a few hundredths, the figure says little.
 */
public final class OneSide {
    /** Of a second, as Linux counts in {@code /proc/stat}. */
    private static final double TICK = 0.01;

    private OneSide() {}

    public static void main(String[] args) throws OrtException, IOException {
        Path model = Path.of(args[1]);
        int threads = Integer.parseInt(args[3]);
        double seconds = Double.parseDouble(args[4]);
        try (Engine engine = Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(threads));
                CompiledModel compiled =
                        engine.compile(OnnxModel.load(model).graph(), Weights.none(), CompileOptions.defaults())) {
            Map<String, Tensor> inputs = OnnxRuntimeBench.inputs(compiled.inputs(), args[2]);
            if (args[0].equals("tenon")) {
                try (Session session = compiled.newSession()) {
                    session.run(inputs);
                    engine.settle(() -> session.run(inputs), Duration.ofMinutes(1));
                    measure(seconds, () -> session.run(inputs));
                }
                return;
            }
            OrtEnvironment environment = OrtEnvironment.getEnvironment();
            Map<String, OnnxTensor> given = new HashMap<>();
            for (Map.Entry<String, Tensor> input : inputs.entrySet()) {
                given.put(input.getKey(), OnnxRuntimeBench.convert(environment, input.getValue()));
            }
            try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
                options.setIntraOpNumThreads(threads);
                options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.ALL_OPT);
                try (OrtSession peer = environment.createSession(model.toString(), options)) {
                    measure(seconds, () -> OnnxRuntimeBench.run(peer, given));
                }
            }
        }
    }

    private static void measure(double seconds, Runnable work) throws IOException {
        List<Double> millis = new ArrayList<>();
        double others = 0;
        for (int round = 0; round < 2; round++) { // the first warms up
            millis.clear();
            double before = othersBusy();
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            while (System.nanoTime() < end || millis.size() < 5) {
                long from = System.nanoTime();
                work.run();
                millis.add((System.nanoTime() - from) / 1e6);
            }
            others = (othersBusy() - before) / ((System.nanoTime() - start) / 1e9);
        }
        System.out.printf(Locale.ROOT, "%.4f %.2f%n", OnnxRuntimeBench.median(millis), Math.max(0, others));
    }

    /** Seconds that all processors have worked for other processes since the system's start. */
    private static double othersBusy() throws IOException {
        String[] all =
                Files.readAllLines(Path.of("/proc/stat")).getFirst().trim().split("\\s+");
        double busy = 0;
        for (int i = 1; i < all.length && i <= 8; i++) {
            busy += i == 4 || i == 5 ? 0 : Double.parseDouble(all[i]) * TICK; // idle, and waiting for disks
        }
        String own = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = own.substring(own.lastIndexOf(')') + 2).split(" ");
        return busy - (Double.parseDouble(fields[11]) + Double.parseDouble(fields[12])) * TICK;
    }
}
