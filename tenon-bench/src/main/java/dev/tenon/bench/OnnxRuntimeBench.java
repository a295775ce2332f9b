package dev.tenon.bench;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A model on ONNX Engine and on Tenon, the same inputs and number of threads, run by run in turn: {@code
 * OnnxRuntimeBench MODEL SHAPES THREADS [SECONDS]}, for example {@code model.onnx 1x8,1x128,32x128 1,2 3}. The sizes of
 * a shape
 * are those of the model's named dims in order; a model without any takes {@code -}. With the property {@code tenon.bench.cpu-time} times are those that
 * the calling thread ran, which is what one thread takes where others use the machine.
 */
public final class OnnxRuntimeBench {
    /** Time of the calling thread alone, for one thread on a busy machine. */
    private static final boolean CPU_TIME = Boolean.getBoolean("tenon.bench.cpu-time");

    /** Of models of speech, which take it as an input. */
    private static final int SAMPLE_RATE = 16_000;

    private OnnxRuntimeBench() {}

    public static void main(String[] args) throws OrtException {
        Path model = Path.of(args[0]);
        double seconds = args.length > 3 ? Double.parseDouble(args[3]) : 3;
        System.out.printf(
                "%-10s %7s %12s %12s %7s %12s %12s %7s %10s%n",
                "shape", "threads", "ONNX RT ms", "Tenon ms", "ratio", "its least", "our least", "ratio", "max diff");
        for (String threads : args[2].split(",")) {
            for (String shape : args[1].split(",")) {
                compare(model, shape, Integer.parseInt(threads), seconds);
            }
        }
    }

    private static void compare(Path file, String shape, int threads, double seconds) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions();
                Engine runtime =
                        Engine.open(Target.cpu(), EngineOptions.defaults().withThreads(threads));
                CompiledModel compiled = runtime.compile(
                        OnnxModel.load(file).graph(),
                        Weights.none(),
                        dev.tenon.core.options.CompileOptions.defaults());
                Session session = compiled.newSession()) {
            options.setIntraOpNumThreads(threads);
            options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.ALL_OPT);
            Map<String, Tensor> inputs = inputs(compiled.inputs(), shape);
            Map<String, OnnxTensor> peerInputs = new HashMap<>();
            for (Map.Entry<String, Tensor> input : inputs.entrySet()) {
                peerInputs.put(input.getKey(), convert(environment, input.getValue()));
            }
            try (OrtSession peer = environment.createSession(file.toString(), options)) {
                double difference = difference(peer, peerInputs, session.run(inputs));
                runtime.settle(() -> session.run(inputs), Duration.ofMinutes(1));
                measure(shape, threads, seconds, difference, () -> run(peer, peerInputs), () -> session.run(inputs));
            }
        }
    }

    static void run(OrtSession peer, Map<String, OnnxTensor> inputs) {
        try (OrtSession.Result result = peer.run(inputs)) {
            if (result.size() == 0) {
                throw new IllegalStateException("no outputs");
            }
        } catch (OrtException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void measure(
            String shape, int threads, double seconds, double difference, Runnable peer, Runnable own) {
        List<Double> peerMillis = new ArrayList<>();
        List<Double> ownMillis = new ArrayList<>();
        for (int round = 0; round < 2; round++) { // the first warms up
            peerMillis.clear();
            ownMillis.clear();
            long end = System.nanoTime() + (long) (seconds * 1e9);
            while (System.nanoTime() < end || peerMillis.size() < 5) {
                peerMillis.add(millis(peer));
                ownMillis.add(millis(own));
            }
        }
        double peerMedian = median(peerMillis);
        double ownMedian = median(ownMillis);
        double peerLeast = Collections.min(peerMillis);
        double ownLeast = Collections.min(ownMillis);
        System.out.printf(
                Locale.ROOT,
                "%-10s %7d %12.3f %12.3f %7.2f %12.3f %12.3f %7.2f %10.2g%n",
                shape,
                threads,
                peerMedian,
                ownMedian,
                ownMedian / peerMedian,
                peerLeast,
                ownLeast,
                ownLeast / peerLeast,
                difference);
    }

    private static double millis(Runnable work) {
        long start = now();
        work.run();
        return (now() - start) / 1e6;
    }

    private static long now() {
        return CPU_TIME ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() : System.nanoTime();
    }

    static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private static double difference(OrtSession peer, Map<String, OnnxTensor> inputs, Map<String, Tensor> own)
            throws OrtException {
        double worst = 0;
        try (OrtSession.Result result = peer.run(inputs)) {
            for (Map.Entry<String, Tensor> output : own.entrySet()) {
                if (output.getValue().dtype() == DType.F32
                        && result.get(output.getKey()).orElse(null) instanceof OnnxTensor tensor) {
                    float[] theirs = new float[Math.toIntExact(output.getValue().elements())];
                    tensor.getFloatBuffer().get(theirs);
                    for (int i = 0; i < theirs.length; i++) {
                        worst = Math.max(
                                worst, Math.abs(theirs[i] - output.getValue().getDouble(i)));
                    }
                }
            }
        }
        return worst;
    }

    static OnnxTensor convert(OrtEnvironment environment, Tensor tensor) throws OrtException {
        java.nio.ByteBuffer bytes = tensor.segment().asByteBuffer().order(ByteOrder.nativeOrder());
        long[] sizes = tensor.shape().sizes();
        return switch (tensor.dtype()) {
            case F32 -> OnnxTensor.createTensor(environment, bytes.asFloatBuffer(), sizes);
            case I64 -> OnnxTensor.createTensor(environment, bytes.asLongBuffer(), sizes);
            case I32 -> OnnxTensor.createTensor(environment, bytes.asIntBuffer(), sizes);
            default -> throw new IllegalArgumentException("an input of type " + tensor.type());
        };
    }

    static Map<String, Tensor> inputs(List<Value> inputs, String shape) {
        Set<String> dims = new LinkedHashSet<>();
        inputs.forEach(input ->
                input.shape().dims().stream().filter(dim -> !dim.isFixed()).forEach(dim -> dims.add(dim.toString())));
        long[] sizes = shape.equals("-")
                ? new long[0]
                : Arrays.stream(shape.split("x")).mapToLong(Long::parseLong).toArray();
        Map<String, Long> bound = new HashMap<>();
        for (String dim : dims) {
            bound.put(dim, sizes[bound.size()]);
        }
        SplittableRandom random = new SplittableRandom(1);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Value input : inputs) {
            List<Dim> own = input.shape().dims().stream()
                    .map(dim -> dim.isFixed() ? dim : Dim.of(bound.getOrDefault(dim.toString(), 1L)))
                    .toList();
            Tensor tensor = Tensor.zeros(new TensorType(input.dtype(), Shape.of(own)));
            for (long i = 0; i < tensor.elements(); i++) {
                double value = input.dtype().isFloat()
                        ? random.nextDouble(-1, 1)
                        : switch (input.name()) {
                            case "input_ids" -> random.nextInt(1000, 20000);
                            case "token_type_ids" -> 0;
                            case "sr" -> SAMPLE_RATE;
                            default -> 1;
                        };
                dev.tenon.core.ir.Elements.setDouble(input.dtype(), tensor.segment(), i, value);
            }
            tensors.put(input.name(), tensor);
        }
        return tensors;
    }
}
