package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;

/** A prepared launch of a compiled region. Immutable; enqueue with a slab of the calling thread. */
public final class FusedLaunch {
    private final Kernel kernel;
    private final LaunchShape shape;
    private final int inputs;
    private final int results;
    private final long elements;
    private final MemorySegment layout;

    FusedLaunch(Kernel kernel, LaunchShape shape, int inputs, int results, long elements, MemorySegment layout) {
        this.kernel = kernel;
        this.shape = shape;
        this.inputs = inputs;
        this.results = results;
        this.elements = elements;
        this.layout = layout;
    }

    /**
     * Starts the arguments: the caller then sets the addresses of the inputs and after them of the results, all on
     * 16-byte boundaries, by {@link KernelArguments#word}. A result may lie over an input of its shape and width.
     */
    public void begin(KernelArguments arguments) {
        arguments.clear().addWords(inputs + results);
    }

    public void enqueue(GpuStream stream, KernelArguments arguments, long faults, int step) {
        arguments.add(elements).add(layout, WalkStruct.ALIGNMENT).add(faults).add(step);
        stream.launch(kernel.function(), shape, arguments);
    }
}
