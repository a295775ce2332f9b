package dev.tenon.cli.cases;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What runs graphs in this JVM. The CPU backend without vectors needs a JVM of its own: {@link ModelCasesTest} starts
 * it.
 */
enum Executor {
    INTERPRETER,
    CPU,
    EMULATOR,
    CUDA;

    /** What a runtime may hold in a case: plenty for the right results, and nothing for those that are refused. */
    private static final long MEMORY_LIMIT = 1 << 28;

    boolean isThere() {
        return switch (this) {
            case INTERPRETER, CPU -> true;
            case EMULATOR, CUDA ->
                Target.devices().stream().anyMatch(device -> device.backend().equals(target()));
        };
    }

    private String target() {
        return name().toLowerCase(Locale.ROOT);
    }

    Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
        return switch (this) {
            case INTERPRETER -> interpreted(graph, inputs);
            case CPU, EMULATOR, CUDA -> compiled(target(), graph, inputs);
        };
    }

    private static Map<String, Tensor> compiled(String target, Graph graph, Map<String, Tensor> inputs) {
        EngineOptions options = EngineOptions.defaults().withMemoryLimit(MEMORY_LIMIT);
        try (Engine runtime = Engine.open(Target.parse(target), options);
                CompiledModel model = runtime.compile(
                        graph, Weights.none(), CompileOptions.defaults().withPrecision(Precision.STRICT));
                Session session = model.newSession()) {
            return session.run(inputs);
        }
    }

    private static Map<String, Tensor> interpreted(Graph graph, Map<String, Tensor> inputs) {
        Map<String, NdArray> given = new LinkedHashMap<>();
        inputs.forEach((name, tensor) -> given.put(name, NdArray.read(tensor.type(), tensor.segment())));
        Map<String, Tensor> results = new LinkedHashMap<>();
        Interpreter.run(graph, given).forEach((name, array) -> {
            Tensor tensor = Tensor.zeros(array.type());
            array.write(tensor.segment());
            results.put(name, tensor);
        });
        return results;
    }
}
