package dev.tenon.cuda.check;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Execution;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Pattern;

/** Small encoders, as exporters spell them out, in one resident launch and in steps of their own. */
final class EncoderChecks {
    /** What a mask has an element for. */
    private enum Masked {
        NOTHING,
        KEYS,
        QUERIES,
        HEADS
    }

    /**
     * An encoder.
     *
     * @param inner columns between both products of a layer's second half
     */
    private record Encoder(
            DType dtype, int batch, int tokens, int heads, int head, int inner, int layers, Masked masked) {
        int hidden() {
            return heads * head;
        }

        /** Whether a form for layers takes it, to which the model of time gives it where a device has few blocks. */
        boolean suitsLayers() {
            return hidden() % 128 == 0 && (inner % 512 == 0 || isTile());
        }

        /** Whether blocks with roles take it, and the emulator holds all of them at once. */
        private boolean isTile() {
            int held = head == 64 ? 16 : hidden() > 256 ? 24 : 32;
            boolean fits = batch * (heads + inner / 64 + tokens) <= held;
            return dtype != DType.F32 && tokens <= 16 && inner % 64 == 0 && fits;
        }
    }

    private static final List<Encoder> ENCODERS = List.of(
            new Encoder(DType.F16, 1, 16, 2, 32, 128, 2, Masked.KEYS),
            new Encoder(DType.F16, 1, 1, 1, 32, 64, 1, Masked.NOTHING),
            new Encoder(DType.F16, 1, 9, 3, 32, 96, 1, Masked.QUERIES),
            new Encoder(DType.F16, 3, 16, 2, 64, 256, 1, Masked.HEADS),
            new Encoder(DType.F16, 2, 33, 2, 32, 128, 1, Masked.KEYS),
            new Encoder(DType.F16, 1, 61, 1, 64, 512, 9, Masked.QUERIES),
            new Encoder(DType.BF16, 2, 7, 2, 32, 64, 1, Masked.KEYS),
            new Encoder(DType.BF16, 1, 68, 2, 64, 64, 3, Masked.NOTHING),
            new Encoder(DType.F32, 1, 16, 2, 32, 128, 2, Masked.KEYS),
            new Encoder(DType.F32, 1, 16, 1, 32, 16, 1, Masked.KEYS),
            new Encoder(DType.F32, 2, 16, 1, 64, 192, 1, Masked.HEADS),
            new Encoder(DType.F32, 1, 40, 3, 32, 48, 1, Masked.QUERIES),
            new Encoder(DType.F16, 1, 16, 4, 32, 512, 2, Masked.KEYS),
            new Encoder(DType.F16, 2, 16, 4, 32, 512, 1, Masked.HEADS),
            new Encoder(DType.F16, 1, 12, 2, 64, 1024, 1, Masked.HEADS),
            new Encoder(DType.F16, 1, 9, 12, 32, 1536, 2, Masked.QUERIES),
            new Encoder(DType.BF16, 1, 31, 4, 32, 512, 3, Masked.QUERIES),
            new Encoder(DType.BF16, 1, 1, 2, 64, 512, 1, Masked.NOTHING),
            new Encoder(DType.F16, 1, 16, 8, 32, 256, 3, Masked.KEYS),
            new Encoder(DType.BF16, 1, 13, 4, 32, 192, 2, Masked.HEADS),
            new Encoder(DType.F16, 1, 1, 4, 32, 64, 1, Masked.NOTHING),
            new Encoder(DType.F16, 1, 9, 12, 32, 192, 3, Masked.QUERIES),
            new Encoder(DType.F16, 2, 5, 4, 32, 192, 2, Masked.KEYS),
            new Encoder(DType.BF16, 2, 4, 4, 32, 128, 1, Masked.HEADS),
            new Encoder(DType.F16, 1, 5, 2, 64, 192, 2, Masked.QUERIES),
            new Encoder(DType.BF16, 1, 3, 4, 64, 192, 2, Masked.KEYS),
            new Encoder(DType.F32, 1, 16, 4, 64, 512, 1, Masked.KEYS),
            new Encoder(DType.F32, 1, 13, 4, 32, 512, 2, Masked.HEADS));

    private static final Pattern LAYERS = Pattern.compile("steps as \\d+ layers?, ");

    private static final List<Execution> EXECUTIONS = List.of(
            Execution.stream(), Execution.graph(), Execution.multiStream(2).asGraph());

    private EncoderChecks() {}

    /** The results of encoders are the reference's; a NaN stays in its sequence; the launch can be recorded. */
    static void resident(String backend) {
        try (Engine engine = Engine.open(Target.parse(backend))) {
            for (Execution execution : EXECUTIONS) {
                check(ENCODERS.getFirst(), backend, engine, execution);
            }
            for (Encoder encoder : ENCODERS.subList(1, ENCODERS.size())) {
                check(encoder, backend, engine, Execution.graph());
            }
        }
    }

    private static void check(Encoder encoder, String backend, Engine engine, Execution execution) {
        Graph graph = graph(encoder);
        try (CompiledModel model = engine.compile(
                        graph, Weights.none(), CompileOptions.defaults().withExecution(execution));
                Session session = model.newSession()) {
            for (int run = 0; run < 3; run++) {
                Map<String, NdArray> given = inputs(graph, run);
                if (run == 1) {
                    Objects.requireNonNull(given.get("x")).set(0, Double.NaN);
                }
                Map<String, Tensor> tensors = new LinkedHashMap<>();
                given.forEach((name, array) -> tensors.put(name, tensor(array)));
                Tensor actual = Objects.requireNonNull(session.run(tensors).get("y"));
                compare(
                        encoder + ", " + execution + ", run " + run,
                        Objects.requireNonNull(Interpreter.run(graph, given).get("y")),
                        NdArray.read(actual.type(), actual.segment()),
                        encoder.dtype);
            }
            List<StepReport> steps = model.report().plans().getFirst().steps();
            long launches = steps.stream()
                    .filter(step -> !step.tier().startsWith("in the resident launch"))
                    .count();
            long resident = steps.stream()
                    .filter(step -> step.tier().startsWith("resident: "))
                    .count();
            boolean layers =
                    steps.stream().anyMatch(step -> LAYERS.matcher(step.tier()).find());
            boolean other = backend.equals("emulator") && layers != encoder.suitsLayers();
            if (resident != 1 || launches > 2 || other) {
                throw new AssertionError(encoder + " runs in " + steps);
            }
        }
    }

    private static void compare(String what, NdArray expected, NdArray actual, DType dtype) {
        double error = 0;
        double size = 0;
        for (int i = 0; i < expected.size(); i++) {
            double wanted = expected.get(i);
            if (Double.isNaN(wanted) != Double.isNaN(actual.get(i))) {
                throw new AssertionError(what + ": element " + i + " is " + actual.get(i) + "; expected " + wanted);
            }
            if (!Double.isNaN(wanted)) {
                error += Math.pow(actual.get(i) - wanted, 2);
                size += wanted * wanted;
            }
        }
        double bound = dtype == DType.BF16 ? 3e-2 : 4e-3;
        if (Math.sqrt(error) > bound * Math.sqrt(size)) {
            throw new AssertionError(
                    what + ": the error is " + Math.sqrt(error / size) + " of the result's length; at most " + bound);
        }
    }

    private static Tensor tensor(NdArray array) {
        Tensor tensor = Tensor.zeros(array.type());
        array.write(tensor.segment());
        return tensor;
    }

    private static Map<String, NdArray> inputs(Graph graph, long seed) {
        Random random = new Random(seed);
        Map<String, NdArray> inputs = new LinkedHashMap<>();
        for (Value input : graph.inputs()) {
            NdArray array = NdArray.zeros(input.type());
            boolean mask = input.name().equals("mask");
            for (int i = 0; i < array.size(); i++) {
                array.set(i, mask ? (random.nextInt(4) == 0 ? -10000 : 0) : random.nextGaussian());
            }
            inputs.put(input.name(), array);
        }
        return inputs;
    }

    private static Graph graph(Encoder encoder) {
        return GraphBuilder.build("encoder", g -> new Writer(g, encoder).write());
    }

    /** Writes an encoder in the words of exporters. */
    private static final class Writer {
        private final GraphBuilder g;
        private final Encoder encoder;
        private final Random random = new Random(7);

        Writer(GraphBuilder g, Encoder encoder) {
            this.g = g;
            this.encoder = encoder;
        }

        void write() {
            Value x = g.input("x", TensorType.of(encoder.dtype, encoder.batch, encoder.tokens, encoder.hidden()));
            Value mask = mask();
            Value y = norm(x);
            for (int layer = 0; layer < encoder.layers; layer++) {
                Value seen = linear(attention(y, mask), encoder.hidden(), encoder.hidden());
                y = norm(g.add(seen, y));
                Value wide = linear(y, encoder.hidden(), encoder.inner);
                Value activated = layer % 2 == 0 ? spelledGelu(wide) : g.silu(wide);
                y = norm(g.add(linear(activated, encoder.inner, encoder.hidden()), y));
            }
            g.output("y", y);
        }

        private Value mask() {
            int tokens = encoder.tokens;
            return switch (encoder.masked) {
                case NOTHING -> g.scalar(encoder.dtype, 0);
                case KEYS -> g.input("mask", TensorType.of(encoder.dtype, encoder.batch, 1, 1, tokens));
                case QUERIES -> g.input("mask", TensorType.of(encoder.dtype, 1, 1, tokens, tokens));
                case HEADS ->
                    g.input("mask", TensorType.of(encoder.dtype, encoder.batch, encoder.heads, tokens, tokens));
            };
        }

        private Value attention(Value x, Value mask) {
            Value q = heads(linear(x, encoder.hidden(), encoder.hidden()));
            Value k = heads(linear(x, encoder.hidden(), encoder.hidden()));
            Value v = heads(linear(x, encoder.hidden(), encoder.hidden()));
            Value scores = g.div(g.matmul(q, g.transpose(k, 0, 1, 3, 2)), Math.sqrt(encoder.head));
            Value masked = encoder.masked == Masked.NOTHING ? scores : g.add(scores, mask);
            Value mixed = g.transpose(g.matmul(g.softmax(masked, 3), v), 0, 2, 1, 3);
            return g.reshape(mixed, encoder.batch, encoder.tokens, encoder.hidden());
        }

        private Value heads(Value x) {
            Value split = g.reshape(x, encoder.batch, encoder.tokens, encoder.heads, encoder.head);
            return g.transpose(split, 0, 2, 1, 3);
        }

        private Value spelledGelu(Value x) {
            Value gate = g.add(g.erf(g.div(x, Math.sqrt(2))), 1);
            return g.mul(g.mul(x, gate), 0.5);
        }

        private Value norm(Value x) {
            return g.layerNorm(x, vector(encoder.hidden(), 1), vector(encoder.hidden(), 0), 1e-5);
        }

        private Value linear(Value x, int from, int to) {
            Value w = constant(1.2 / Math.sqrt(from), 0, from, to);
            return g.add(g.matmul(x, w), vector(to, 0));
        }

        private Value vector(int size, double about) {
            return constant(0.2, about, size);
        }

        private Value constant(double scale, double about, long... sizes) {
            NdArray array = NdArray.zeros(TensorType.of(encoder.dtype, sizes));
            for (int i = 0; i < array.size(); i++) {
                array.set(i, about + scale * random.nextGaussian());
            }
            return g.constant(tensor(array));
        }
    }
}
