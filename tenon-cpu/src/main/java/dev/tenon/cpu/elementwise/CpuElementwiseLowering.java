package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Elementwise operations, single or fused: all become a list of {@link TileOp}s. */
public final class CpuElementwiseLowering {
    private CpuElementwiseLowering() {}

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        int inputs = node.inputs().size();
        Region region = node.op() instanceof Region given
                ? given
                : new Region(
                        List.of(new Region.Step(
                                (Elementwise) node.op(),
                                IntStream.range(0, inputs).boxed().toList())),
                        List.of(0));
        List<DType> types = new ArrayList<>();
        List<Shape> shapes = new ArrayList<>();
        for (Value input : node.inputs()) {
            types.add(input.dtype());
            shapes.add(input.shape());
        }
        List<TileProgram.Instruction> instructions = new ArrayList<>();
        for (Region.Step step : region.steps()) {
            List<DType> arguments = new ArrayList<>();
            for (int argument : step.arguments()) {
                arguments.add(types.get(argument));
            }
            DType first = arguments.get(step.op() instanceof Where ? 1 : 0);
            types.add(step.op().dtypes(arguments).getFirst());
            instructions.add(new TileProgram.Instruction(TileOp.of(step.op(), first), step.arguments()));
        }
        int[] results = new int[region.results().size()];
        Arrays.setAll(results, i -> inputs + region.results().get(i));
        Broadcast broadcast = Broadcast.of(node.output().shape(), shapes);
        int[] operands = slots(node.inputs(), context);
        int[] outputs = slots(node.outputs(), context);
        CpuElementwiseStep tiles = new CpuElementwiseStep(
                new TileProgram(types, inputs, instructions, results, broadcast),
                operands,
                outputs,
                node.output().shape().elements());
        return RegionStep.of(region, tiles, node, operands, outputs);
    }

    private static int[] slots(List<Value> values, CpuLoweringContext context) {
        int[] slots = new int[values.size()];
        Arrays.setAll(slots, i -> context.slot(values.get(i)));
        return slots;
    }
}
