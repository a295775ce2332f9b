package dev.tenon.cpu.step;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.custom.HostBody;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** Runs a custom operation by the body that its definition gives for the CPU. What the body allocates is its own. */
public final class HostBodyStep extends LoopStep {
    private final HostBody body;
    private final int[] inputs;
    private final int[] results;
    private final boolean packed;

    private HostBodyStep(HostBody body, Node node, CpuLoweringContext context) {
        super("custom body", body.units(), body.unitCost());
        this.body = body;
        this.inputs = slots(node.inputs(), context);
        this.results = slots(node.outputs(), context);
        this.packed = node.outputs().stream().anyMatch(result -> Raw.isPacked(result.dtype()));
    }

    /** The definition's body; the reference where it has none. */
    public static CpuStep lower(Custom op, Node node, CpuLoweringContext context) {
        return op.definition()
                .hostBody(types(node.inputs()), types(node.outputs()))
                .<CpuStep>map(body -> new HostBodyStep(body, node, context))
                .orElseGet(() -> new ReferenceStep(
                        op,
                        types(node.inputs()),
                        types(node.outputs()),
                        slots(node.inputs(), context),
                        slots(node.outputs(), context)));
    }

    private static List<TensorType> types(List<Value> values) {
        return values.stream().map(Value::type).toList();
    }

    private static int[] slots(List<Value> values, CpuLoweringContext context) {
        return values.stream().mapToInt(context::slot).toArray();
    }

    @Override
    public boolean isSerial() {
        return packed;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        List<MemorySegment> sources = Arrays.stream(inputs)
                .mapToObj(slot -> frame.at(slot).asReadOnly())
                .toList();
        List<MemorySegment> targets = Arrays.stream(results).mapToObj(frame::at).toList();
        body.loop().run(sources, targets, from, to);
    }

    /** Runs the reference, on the heap. */
    @SuppressWarnings("ArrayRecordComponent") // handed over once; a step is never compared
    private record ReferenceStep(
            Custom op, List<TensorType> inputs, List<TensorType> results, int[] inputSlots, int[] resultSlots)
            implements CpuStep {
        @Override
        public void run(CpuFrame frame) {
            NdArray[] arrays = new NdArray[inputSlots.length];
            for (int i = 0; i < arrays.length; i++) {
                arrays[i] = NdArray.read(inputs.get(i), frame.at(inputSlots[i]));
            }
            List<NdArray> given = op.evaluate(List.of(arrays));
            List<TensorType> types = given.stream().map(NdArray::type).toList();
            if (!types.equals(results)) {
                throw new DataException(op.mnemonic() + ": the reference gives " + types
                        + "; expected the types of the operation's rules, " + results);
            }
            for (int i = 0; i < resultSlots.length; i++) {
                given.get(i).write(frame.at(resultSlots[i]));
            }
        }

        @Override
        public String tier() {
            return "custom reference";
        }

        @Override
        public List<String> passedOver() {
            return List.of("custom body: the definition gives none for these types");
        }
    }
}
