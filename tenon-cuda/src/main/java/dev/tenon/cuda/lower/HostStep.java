package dev.tenon.cuda.lower;

import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Composite;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A node that has no kernel here yet, run by the CPU backend: its operands are copied to the host, its results back,
 * and the stream stands still meanwhile. Slow, and right; a recorded plan is recorded up to such a
 * step and behind it.
 */
final class HostStep implements GpuStep {
    private final Program program;
    private final TensorType[] types;
    private final int[] inputs;
    private final int[] outputs;
    private final String reason;

    private HostStep(Program program, TensorType[] types, int[] inputs, int[] outputs, String reason) {
        this.program = program;
        this.types = types;
        this.inputs = inputs;
        this.outputs = outputs;
        this.reason = reason;
    }

    /** @throws UnsupportedException where there is no CPU backend either, or it does not run the node */
    static HostStep of(Node node, GpuLoweringContext context, String reason) {
        GraphBuilder builder = new GraphBuilder(node.name());
        List<Value> operands = new ArrayList<>();
        List<Value> given = new ArrayList<>();
        for (int i = 0; i < node.inputs().size(); i++) {
            Value input = node.input(i);
            ConstantData data = input.constant();
            if (data != null) {
                operands.add(builder.constant(data));
            } else {
                operands.add(builder.input("in" + i, input.type()));
                given.add(input);
            }
        }
        List<Value> results = builder.add(node.name(), node.op(), operands);
        for (int i = 0; i < results.size(); i++) {
            builder.output("out" + i, results.get(i));
        }
        return new HostStep(
                context.onHost(plan(builder.build(), node), reason),
                given.stream().map(Value::type).toArray(TensorType[]::new),
                given.stream().mapToInt(context::slot).toArray(),
                node.outputs().stream().mapToInt(context::slot).toArray(),
                reason);
    }

    /** What stands for a composite is run, which the device claims and the CPU backend may not. */
    private static Plan plan(Graph graph, Node node) {
        if (!(node.op() instanceof Composite)) {
            return new Plan(graph, MemoryPlanner.plan(graph));
        }
        Map<String, TensorType> types = new HashMap<>();
        graph.inputs().forEach(input -> types.put(input.name(), input.type()));
        return new Compiler(CompilerOptions.defaults().withOptimise(false), _ -> false)
                .plan(graph, types, Map.of())
                .plan();
    }

    @Override
    public void enqueue(GpuFrame frame) {
        Tensor[] operands = new Tensor[inputs.length];
        for (int i = 0; i < operands.length; i++) {
            operands[i] = Tensor.zeros(types[i]);
            frame.download(inputs[i], operands[i].segment());
        }
        frame.stream().synchronize();
        Tensor[] results = frame.onHost(program, operands);
        for (int i = 0; i < results.length; i++) {
            frame.upload(results[i].segment(), outputs[i]);
        }
    }

    @Override
    public boolean recordable() {
        return false;
    }

    @Override
    public String tier() {
        return StepReport.HOST_TIER + "the CPU backend, between copies";
    }

    @Override
    public List<String> passedOver() {
        return List.of(reason);
    }
}
