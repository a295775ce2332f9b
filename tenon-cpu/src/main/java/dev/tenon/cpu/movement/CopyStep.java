package dev.tenon.cpu.movement;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.util.List;

/** One strided copy, or several into the same output, as one loop. */
public final class CopyStep extends LoopStep {
    /** A copy and the slot it reads. */
    record Part(int slot, StridedCopy copy) {}

    private final Part[] parts;
    private final int output;
    private final boolean packed;

    CopyStep(DType dtype, List<Part> parts, int output) {
        long units = 0;
        long elements = 1;
        for (Part part : parts) {
            units += part.copy().units();
            elements = Math.max(elements, part.copy().unitElements());
        }
        super("strided copy", units, elements);
        this.parts = parts.toArray(Part[]::new);
        this.output = output;
        this.packed = Raw.isPacked(dtype);
    }

    /** A copy of a value as it is. */
    public static CopyStep whole(Value from, Value to, CpuLoweringContext context) {
        long[] elements = {to.shape().elements()};
        StridedCopy copy = new StridedCopy(to.dtype(), elements, 0, new long[] {1}, 0, new long[] {1});
        return new CopyStep(to.dtype(), List.of(new Part(context.slot(from), copy)), context.slot(to));
    }

    @Override
    public boolean isSerial() {
        return packed;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        long first = 0;
        for (Part part : parts) {
            long last = first + part.copy().units();
            if (first < to && from < last) {
                part.copy()
                        .run(
                                frame.at(part.slot()),
                                frame.at(output),
                                Math.max(from, first) - first,
                                Math.min(to, last) - first);
            }
            first = last;
        }
    }
}
