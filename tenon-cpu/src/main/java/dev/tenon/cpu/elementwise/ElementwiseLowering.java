package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Where;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Elementwise operations, single or fused: all become a list of {@link TileOp}s. */
public final class ElementwiseLowering {
    private ElementwiseLowering() {}

    public static CpuStep lower(Node node, CpuLoweringContext context) {
        int inputs = node.inputs().size();
        Region region = node.op() instanceof Region given
                ? given
                : new Region(
                        List.of(new Region.Step(
                                (Elementwise) node.op(),
                                IntStream.range(0, inputs).boxed().toList())),
                        List.of(0));
        List<DType> types =
                new ArrayList<>(node.inputs().stream().map(Value::dtype).toList());
        List<TileProgram.Instruction> instructions = new ArrayList<>();
        for (Region.Step step : region.steps()) {
            List<DType> arguments = step.arguments().stream().map(types::get).toList();
            DType first = arguments.get(step.op() instanceof Where ? 1 : 0);
            types.add(step.op().dtypes(arguments).getFirst());
            instructions.add(new TileProgram.Instruction(TileOp.of(step.op(), first), step.arguments()));
        }
        List<Integer> results =
                region.results().stream().map(step -> inputs + step).toList();
        Broadcast broadcast = Broadcast.of(
                node.output().shape(), node.inputs().stream().map(Value::shape).toList());
        return new ElementwiseStep(
                new TileProgram(types, inputs, instructions, results, broadcast),
                node.inputs().stream().mapToInt(context::slot).toArray(),
                node.outputs().stream().mapToInt(context::slot).toArray(),
                node.output().shape().elements());
    }
}
