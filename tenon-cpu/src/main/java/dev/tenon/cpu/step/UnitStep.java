package dev.tenon.cpu.step;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.loops.Raw;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Runs the units of an operation by its own definition, over the memory of a frame: the tier of operations that have no
 * loops of their own here. It works in float64 and, unlike other steps, may allocate.
 */
public final class UnitStep extends LoopStep {
    private final InUnits op;
    private final List<TensorType> inputs;
    private final List<TensorType> results;
    private final int[] inputSlots;
    private final int[] resultSlots;
    private final boolean packed;

    private UnitStep(InUnits op, Node node, CpuLoweringContext context) {
        List<TensorType> types = types(node.inputs());
        super("definition, by units", op.units(types), op.unitCost(types));
        this.op = op;
        this.inputs = types;
        this.results = types(node.outputs());
        this.inputSlots = node.inputs().stream().mapToInt(context::slot).toArray();
        this.resultSlots = node.outputs().stream().mapToInt(context::slot).toArray();
        this.packed = results.stream().anyMatch(type -> Raw.isPacked(type.dtype()));
    }

    public static CpuStep lower(InUnits op, Node node, CpuLoweringContext context) {
        return new UnitStep(op, node, context);
    }

    private static List<TensorType> types(List<Value> values) {
        return values.stream().map(Value::type).toList();
    }

    @Override
    public boolean isSerial() {
        return packed;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        op.compute(new Memory(frame), from, to);
    }

    /** The frame's memory of this node. */
    private final class Memory implements InUnits.Operands {
        private final MemorySegment[] sources = new MemorySegment[inputSlots.length];
        private final MemorySegment[] targets = new MemorySegment[resultSlots.length];
        private final DType[] sourceTypes = new DType[inputSlots.length];
        private final DType[] targetTypes = new DType[resultSlots.length];

        Memory(CpuFrame frame) {
            for (int i = 0; i < sources.length; i++) {
                sources[i] = frame.at(inputSlots[i]);
                sourceTypes[i] = inputs.get(i).dtype();
            }
            for (int i = 0; i < targets.length; i++) {
                targets[i] = frame.at(resultSlots[i]);
                targetTypes[i] = results.get(i).dtype();
            }
        }

        @Override
        public TensorType input(int index) {
            return inputs.get(index);
        }

        @Override
        public TensorType result(int index) {
            return results.get(index);
        }

        @Override
        public double get(int input, long element) {
            return sourceTypes[input] == DType.F32
                    ? sources[input].get(Raw.F32, element * 4)
                    : Elements.getDouble(sourceTypes[input], sources[input], element);
        }

        @Override
        public long getLong(int input, long element) {
            return Elements.getLong(sourceTypes[input], sources[input], element);
        }

        @Override
        public void read(int input, long from, double[] into) {
            if (sourceTypes[input] == DType.F32) {
                for (int i = 0; i < into.length; i++) {
                    into[i] = sources[input].get(Raw.F32, (from + i) * 4);
                }
            } else {
                InUnits.Operands.super.read(input, from, into);
            }
        }

        @Override
        public void read(int input, long from, byte[] into) {
            MemorySegment.copy(sources[input], Raw.I8, from, into, 0, into.length);
        }

        @Override
        public void set(int result, long element, double value) {
            if (targetTypes[result] == DType.F32) {
                targets[result].set(Raw.F32, element * 4, (float) value);
            } else {
                Elements.setDouble(targetTypes[result], targets[result], element, value);
            }
        }

        @Override
        public void setLong(int result, long element, long value) {
            Elements.setLong(targetTypes[result], targets[result], element, value);
        }
    }
}
