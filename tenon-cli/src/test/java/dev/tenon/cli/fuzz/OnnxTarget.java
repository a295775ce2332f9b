package dev.tenon.cli.fuzz;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.formats.onnx.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** ONNX files: imported, and those that are models are run on the CPU backend and held against the interpreter. */
final class OnnxTarget implements Target, AutoCloseable {
    private static final long LARGEST_SEED = 20_000;
    private static final long MEMORY_LIMIT = 64 << 20;
    /** What the interpreter takes on: it is slow. */
    private static final long COMPARED_BYTES = 1 << 16;

    /** Loops may be told to turn for ever, and random numbers differ by design. */
    private static final Set<String> NOT_RUN = Set.of("loop", "random", "random_like", "bernoulli", "multinomial");

    private static final double TOLERANCE = 1e-2;
    /** Past this, f32 sums overflow where f64 does not. */
    private static final double HUGE = 1e30;

    private final List<WireTree> seeds = new ArrayList<>();
    private final List<String> words = new ArrayList<>();
    private final Engine runtime;

    OnnxTarget(List<Path> folders) throws IOException {
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(each -> each.toString().endsWith(".onnx"))
                        .sorted()
                        .toList()) {
                    if (Files.size(file) <= LARGEST_SEED) {
                        seeds.add(WireTree.parse(Files.readAllBytes(file)));
                    }
                }
            }
        }
        words.addAll(List.of(
                "",
                "x",
                "y",
                "Add",
                "MatMul",
                "Conv",
                "Reshape",
                "Softmax",
                "Cast",
                "Gather",
                "Loop",
                "If",
                "Clip",
                "Pad",
                "Slice",
                "Concat",
                "axis",
                "axes",
                "perm",
                "to",
                "pads",
                "strides",
                "kernel_shape",
                "dilations",
                "group",
                "ceil_mode",
                "mode",
                "ai.onnx",
                "com.microsoft",
                "SAME_UPPER",
                "reflect",
                "N",
                "../w.bin"));
        runtime = Engine.open(
                dev.tenon.core.runtime.Target.parse("cpu"),
                EngineOptions.defaults().withThreads(1).withMemoryLimit(MEMORY_LIMIT));
    }

    @Override
    public String name() {
        return "onnx";
    }

    @Override
    public byte[] next(SplittableRandom random) {
        WireTree tree = seeds.get(random.nextInt(seeds.size())).copy();
        WireTree other = seeds.get(random.nextInt(seeds.size()));
        for (int i = random.nextInt(3); i >= 0; i--) {
            tree.mutate(random, other, words);
        }
        byte[] bytes = tree.bytes();
        return random.nextInt(40) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
    }

    @Override
    public String use(byte[] file) {
        Graph graph = OnnxModel.parse("fuzzed", file).graph();
        if (graph.nodes().stream().anyMatch(node -> NOT_RUN.contains(node.op().mnemonic()))) {
            return "imported";
        }
        Map<String, Tensor> inputs = inputs(graph);
        try (CompiledModel model = runtime.compile(graph, Weights.none(), CompileOptions.defaults());
                Session session = model.newSession()) {
            Map<String, Tensor> outputs = session.run(inputs);
            long work = model.report().plans().stream()
                    .mapToLong(plan -> plan.unplannedBytes())
                    .sum();
            if (work > COMPARED_BYTES || outputs.values().stream().anyMatch(y -> y.byteSize() > COMPARED_BYTES)) {
                return "ran";
            }
            Map<String, NdArray> expected = expected(graph, inputs);
            if (expected.isEmpty()) {
                return "ran";
            }
            compare(expected, outputs);
            return "right";
        }
    }

    /** By the interpreter, which keeps every value whole; empty where the heap has no room for that. */
    private static Map<String, NdArray> expected(Graph graph, Map<String, Tensor> inputs) {
        Map<String, NdArray> values = new LinkedHashMap<>();
        inputs.forEach((name, tensor) -> values.put(name, NdArray.read(tensor.type(), tensor.segment())));
        try {
            return Interpreter.run(graph, values);
        } catch (OutOfMemoryError _) {
            return Map.of();
        }
    }

    private static void compare(Map<String, NdArray> expected, Map<String, Tensor> outputs) {
        outputs.forEach((name, tensor) -> {
            NdArray want = expected.get(name);
            if (want == null || !want.type().equals(tensor.type())) {
                throw new IllegalStateException("output is " + tensor.type() + ", expected " + want);
            }
            for (long i = 0; i < tensor.elements(); i++) {
                double is = tensor.getDouble(i);
                double should = want.get((int) i);
                double size = Math.max(Math.abs(is), Math.abs(should));
                if (size < HUGE && Math.abs(is - should) > TOLERANCE * Math.max(1, size)) {
                    throw new IllegalStateException(
                            "element " + i + " of an output " + tensor.type() + " is " + is + ", expected " + should);
                }
            }
        });
    }

    private static Map<String, Tensor> inputs(Graph graph) {
        Map<String, Tensor> inputs = new LinkedHashMap<>();
        SplittableRandom random = new SplittableRandom(3);
        for (Value input : graph.inputs()) {
            List<Dim> dims = new ArrayList<>();
            if (input.shape().isRanked()) {
                input.shape().dims().forEach(dim -> dims.add(dim.isFixed() ? dim : Dim.of(2)));
            }
            TensorType type = new TensorType(input.dtype(), Shape.of(dims));
            Tensor tensor = Tensor.zeros(type);
            if (tensor.byteSize() > MEMORY_LIMIT) {
                throw new dev.tenon.core.error.OutOfMemoryException("larger than the limit");
            }
            for (long i = 0; i < tensor.elements(); i++) {
                Elements.setDouble(
                        input.dtype(),
                        tensor.segment(),
                        i,
                        input.dtype() == DType.BOOL
                                ? random.nextInt(2)
                                : input.dtype().isFloat() ? random.nextDouble(-2, 2) : random.nextInt(3));
            }
            inputs.put(input.name(), tensor);
        }
        return inputs;
    }

    @Override
    public void close() {
        runtime.close();
    }
}
