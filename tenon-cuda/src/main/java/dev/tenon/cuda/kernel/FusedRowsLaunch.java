package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.MemorySegment;

/** A prepared launch of a compiled row region. Immutable; enqueue with a slab of the calling thread. */
public final class FusedRowsLaunch {
    private final Kernel kernel;
    private final RowPlan plan;
    private final int inputs;
    private final long rows;
    private final long cols;
    private final double epsilon;
    private final MemorySegment layout;

    FusedRowsLaunch(
            Kernel kernel, RowPlan plan, int inputs, long rows, long cols, double epsilon, MemorySegment layout) {
        this.kernel = kernel;
        this.plan = plan;
        this.inputs = inputs;
        this.rows = rows;
        this.cols = cols;
        this.epsilon = epsilon;
        this.layout = layout;
    }

    /** How rows are cut. */
    public RowPlan plan() {
        return plan;
    }

    /**
     * Starts the arguments: the caller then sets the addresses of the inputs and after them of the result, all on
     * 16-byte boundaries, by {@link KernelArguments#word}. The result lies over no input.
     */
    public void begin(KernelArguments arguments) {
        arguments.clear().addWords(inputs + 1);
    }

    public void enqueue(GpuStream stream, KernelArguments arguments, long faults, int step) {
        arguments.add(rows).add(cols);
        if (kernel.variant().dtype() == DType.F64) {
            arguments.add(epsilon);
        } else {
            arguments.add((float) epsilon);
        }
        arguments.add(layout, WalkStruct.ALIGNMENT).add(faults).add(step);
        stream.launch(kernel.function(), plan.shape(), arguments);
    }
}
