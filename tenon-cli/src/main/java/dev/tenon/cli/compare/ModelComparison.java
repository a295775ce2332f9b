package dev.tenon.cli.compare;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * Runs a model on a device with every value an output, and each node once more in float64 on what the device had for
 * its operands: a node differs for reasons of its own and not for those of the nodes before it.
 */
final class ModelComparison {
    /** Operands of TF32 have 10 bits behind the leading one. */
    private static final double TF32 = 0x1p-10;

    private final Graph graph;
    private final double epsilon;
    private final Map<Value, String> names = new HashMap<>();

    /**
     * What came of a node's result.
     *
     * @param output which of the node's results
     */
    record Compared(Node node, int output, Difference difference) {}

    /** @param gpu whether f32 products may be rounded to TF32 where the options let them */
    ModelComparison(Graph graph, CompileOptions options, boolean gpu) {
        this.graph = graph;
        this.epsilon = epsilon(options, gpu);
    }

    private static double epsilon(CompileOptions options, boolean gpu) {
        WeightType weights = options.weightType();
        if (weights == WeightType.F16 || weights == WeightType.BF16) {
            return Tolerance.epsilon(weights == WeightType.F16 ? DType.F16 : DType.BF16);
        }
        return gpu && options.precision() == Precision.FAST ? TF32 : 0;
    }

    /** The graph with each value of each node for an output. */
    private Graph exposed() {
        GraphBuilder builder = new GraphBuilder(graph);
        graph.nodes().forEach(builder::keep);
        graph.outputs().forEach((name, value) -> {
            names.putIfAbsent(value, name);
            builder.output(name, value);
        });
        for (Node node : graph.nodes()) {
            for (Value value : node.outputs()) {
                if (!names.containsKey(value)) {
                    String name = "value " + names.size() + " of " + node.name();
                    names.put(value, name);
                    builder.output(name, value);
                }
            }
        }
        return builder.build();
    }

    /**
     * Compares every node.
     *
     * @param progress told how many nodes are compared
     */
    List<Compared> nodes(Engine engine, CompileOptions options, Map<String, Tensor> inputs, IntConsumer progress) {
        Map<Value, NdArray> values = new HashMap<>();
        try (CompiledModel compiled = engine.compile(exposed(), options);
                Session session = compiled.newSession()) {
            Map<String, Tensor> results = session.run(inputs);
            names.forEach((value, name) -> values.put(value, array(Objects.requireNonNull(results.get(name)))));
        }
        graph.inputs().forEach(input -> values.put(input, array(Objects.requireNonNull(inputs.get(input.name())))));
        List<Compared> all = new ArrayList<>();
        int done = 0;
        for (Node node : graph.nodes()) {
            List<NdArray> operands = new ArrayList<>();
            for (Value input : node.inputs()) {
                operands.add(values.computeIfAbsent(input, ModelComparison::constant));
            }
            List<NdArray> expected = Interpreter.run(node.op(), operands);
            for (int i = 0; i < expected.size(); i++) {
                NdArray actual =
                        Objects.requireNonNull(values.get(node.outputs().get(i)));
                long sums = sums(node, operands, actual);
                all.add(new Compared(node, i, Difference.of(expected.get(i), actual, epsilon, sums)));
            }
            progress.accept(++done);
        }
        return all;
    }

    /** How many terms an element of the result sums up, or what could be as many. */
    private static long sums(Node node, List<NdArray> operands, NdArray result) {
        if (operands.isEmpty()) {
            return 1;
        }
        Shape first = operands.getFirst().shape();
        return switch (node.op()) {
            case MatMul op -> first.size(first.rank() - (op.transposeA() ? 2 : 1));
            case NormedMatMul op -> first.size(first.rank() - (op.product().transposeA() ? 2 : 1));
            case ProjectedAttention op ->
                first.size(first.rank() - (op.product().transposeA() ? 2 : 1));
            case PrologueMatMul op -> {
                Shape weight = operands.get(op.prologues()).shape();
                yield weight.size(weight.rank() - (op.product().transposeB() ? 1 : 2));
            }
            case Conv _ -> operands.get(1).shape().elements(1, first.rank());
            default -> Math.max(1, first.elements() / Math.max(1, result.size()));
        };
    }

    private static NdArray constant(Value value) {
        ConstantData data = value.constant();
        if (data == null) {
            throw new IllegalStateException("no value of " + value);
        }
        return NdArray.of(data);
    }

    private static NdArray array(Tensor tensor) {
        return NdArray.read(tensor.type(), tensor.segment());
    }

    /** The outputs of an ordinary run beside those of the whole model in float64; roundings of all nodes add up. */
    Map<String, Difference> outputs(Engine engine, CompileOptions options, Map<String, Tensor> inputs) {
        Map<String, NdArray> given = new HashMap<>();
        inputs.forEach((name, tensor) -> given.put(name, array(tensor)));
        Map<String, NdArray> expected = Interpreter.run(graph, given);
        Map<String, Difference> differences = new LinkedHashMap<>();
        try (CompiledModel compiled = engine.compile(graph, options);
                Session session = compiled.newSession()) {
            session.run(inputs)
                    .forEach((name, tensor) -> differences.put(
                            name,
                            Difference.of(
                                    Objects.requireNonNull(expected.get(name)),
                                    array(tensor),
                                    epsilon,
                                    graph.nodes().size())));
        }
        return differences;
    }
}
