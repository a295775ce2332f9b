package dev.tenon.cpu.step;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import java.util.List;

/**
 * Runs an operation by its definition in float64, on the heap: the tier of rare sizes that no loop takes. Unlike other
 * steps it allocates.
 *
 * @param reason why no loop takes the operation
 */
public record DefinitionStep(
        Primitive op, List<TensorType> types, List<Integer> inputs, List<Integer> results, String reason)
        implements CpuStep {
    public DefinitionStep {
        types = List.copyOf(types);
        inputs = List.copyOf(inputs);
        results = List.copyOf(results);
    }

    public static CpuStep lower(Primitive op, Node node, CpuLoweringContext context, String reason) {
        return new DefinitionStep(
                op,
                node.inputs().stream().map(Value::type).toList(),
                node.inputs().stream().map(context::slot).toList(),
                node.outputs().stream().map(context::slot).toList(),
                reason);
    }

    @Override
    public void run(CpuFrame frame) {
        NdArray[] arrays = new NdArray[inputs.size()];
        for (int i = 0; i < arrays.length; i++) {
            arrays[i] = NdArray.read(types.get(i), frame.at(inputs.get(i)));
        }
        List<NdArray> given = op.evaluate(List.of(arrays));
        for (int i = 0; i < results.size(); i++) {
            given.get(i).write(frame.at(results.get(i)));
        }
    }

    @Override
    public String tier() {
        return "definition";
    }

    @Override
    public List<String> passedOver() {
        return List.of("loops: " + reason);
    }
}
