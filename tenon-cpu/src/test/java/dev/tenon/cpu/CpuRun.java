package dev.tenon.cpu;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cpu.convolution.WinogradHotLoops;
import dev.tenon.cpu.device.CpuDevice;
import dev.tenon.cpu.loops.HotLoop;
import dev.tenon.cpu.loops.HotLoops;
import dev.tenon.cpu.loops.Vectors;
import dev.tenon.cpu.plan.CpuContext;
import dev.tenon.cpu.plan.CpuProgram;
import dev.tenon.cpu.plan.CpuWeights;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.window.ChannelHotLoops;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs single operations and small graphs on an open device, with every byte that a kernel might wrongly rely on set to
 * 0xFF: NaN for floats, -1 or the largest number for integers.
 */
public final class CpuRun implements AutoCloseable {
    private final CpuDevice device;

    static {
        useVectors();
    }

    /** Takes the vector loops into use at once, where there are any: tests are about what they compute. */
    public static void useVectors() {
        if (Vectors.available()) {
            HotLoops.all().forEach(HotLoop::adopt);
            ChannelHotLoops.all().forEach(HotLoop::adopt);
            WinogradHotLoops.all().forEach(HotLoop::adopt);
        }
    }

    public CpuRun(int threads) {
        device = new CpuDevice(
                new DeviceInfo("cpu", 0, "test", "", 0),
                EngineOptions.defaults().withThreads(threads));
    }

    /** The operation on those inputs, of which the ones from {@code firstConstant} on are constants of the graph. */
    public List<NdArray> run(Op op, List<NdArray> inputs, int firstConstant) {
        List<NdArray> given = inputs.subList(0, Math.min(firstConstant, inputs.size()));
        Graph graph = GraphBuilder.build("test", g -> {
            List<Value> values = new ArrayList<>();
            for (int i = 0; i < inputs.size(); i++) {
                values.add(
                        i < firstConstant
                                ? g.input("x" + i, inputs.get(i).type())
                                : g.constant(inputs.get(i).toConstant()));
            }
            List<Value> results = g.add("node", op, values);
            for (int i = 0; i < results.size(); i++) {
                g.output("y" + i, results.get(i));
            }
        });
        return run(graph, given);
    }

    public List<NdArray> run(Graph graph, List<NdArray> inputs) {
        try (CpuWeights weights = (CpuWeights) device.newConstants();
                CpuContext context = (CpuContext) device.newState()) {
            CpuProgram program = (CpuProgram)
                    device.compile(new Plan(graph, MemoryPlanner.plan(graph)), weights, CompileOptions.defaults());
            CpuFrame frame = context.frame(program);
            for (int worker = 0; worker < frame.threads(); worker++) {
                frame.workspace(worker).fill((byte) -1);
            }
            program.bindInputs(
                    context, frame, inputs.stream().map(CpuRun::shifted).toArray(Tensor[]::new));
            Tensor[] outputs = graph.outputs().values().stream()
                    .map(value -> Tensor.zeros(value.type()))
                    .toArray(Tensor[]::new);
            for (Tensor output : outputs) {
                output.segment().fill((byte) -1);
            }
            program.run(frame, outputs);
            return java.util.Arrays.stream(outputs)
                    .map(output -> NdArray.read(output.type(), output.segment()))
                    .toList();
        }
    }

    /** In memory that begins at a multiple of the element and of nothing larger, between bytes of 0xFF. */
    private static Tensor shifted(NdArray array) {
        long bytes = array.type().bytes();
        long shift = Math.max(1, array.dtype().bits() / 8);
        MemorySegment around = Arena.ofAuto().allocate(bytes + 128, 64);
        around.fill((byte) -1);
        MemorySegment segment = around.asSlice(64 + shift, bytes);
        array.write(segment);
        return Tensor.wrap(array.type(), segment);
    }

    public CpuDevice device() {
        return device;
    }

    @Override
    public void close() {
        device.close();
    }
}
