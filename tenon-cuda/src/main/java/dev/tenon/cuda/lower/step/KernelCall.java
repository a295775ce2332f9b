package dev.tenon.cuda.lower.step;

import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A launch whose arguments are written down when a step is made: numbers, and places whose addresses the frame knows.
 * Immutable.
 */
public final class KernelCall {
    private static final int THREADS = 256;

    private final Kernel kernel;
    private final LaunchShape shape;
    private final List<Argument> arguments;

    private KernelCall(Kernel kernel, LaunchShape shape, List<Argument> arguments) {
        this.kernel = kernel;
        this.shape = shape;
        this.arguments = List.copyOf(arguments);
    }

    /** One argument: adds itself to the slab. */
    @FunctionalInterface
    private interface Argument {
        void addTo(KernelArguments slab, GpuFrame frame);
    }

    /** Starts a call without arguments. */
    public static Builder of(Kernel kernel, LaunchShape shape) {
        return new Builder(kernel, shape);
    }

    /** A thread for each piece of work, at least one, 256 a block; kernels stride over a grid that is too small. */
    public static LaunchShape pieces(long pieces) {
        return LaunchShape.of((int) Math.min(Math.ceilDiv(pieces, (long) THREADS), Integer.MAX_VALUE), THREADS);
    }

    /** Enqueues the launch on the frame's stream. */
    public void enqueue(GpuFrame frame) {
        KernelArguments slab = frame.arguments().clear();
        for (int i = 0; i < arguments.size(); i++) {
            arguments.get(i).addTo(slab, frame);
        }
        frame.stream().launch(kernel.function(), shape, slab);
    }

    /** Collects the arguments in the order of the kernel's parameters. Used by one thread. */
    public static final class Builder {
        private final Kernel kernel;
        private final LaunchShape shape;
        private final List<Argument> arguments = new ArrayList<>();

        private Builder(Kernel kernel, LaunchShape shape) {
            this.kernel = kernel;
            this.shape = shape;
        }

        private Builder add(Argument argument) {
            arguments.add(argument);
            return this;
        }

        /** Adds a value's address; 0 for a negative slot. */
        public Builder slot(int slot) {
            return slot < 0 ? number(0L) : add((slab, frame) -> slab.add(frame.at(slot)));
        }

        /** Adds the address of workspace memory, so many bytes from its start. */
        public Builder workspace(long offset) {
            return add((slab, frame) -> slab.add(frame.workspace() + offset));
        }

        /** Adds the address of the zeroed counters. */
        public Builder counters() {
            return add((slab, frame) -> slab.add(frame.counters()));
        }

        /** Adds the address of the word of faults and the step's number. */
        public Builder faults(int step) {
            return add((slab, frame) -> slab.add(frame.faults())).number(step);
        }

        public Builder number(long value) {
            return add((slab, _) -> slab.add(value));
        }

        public Builder number(int value) {
            return add((slab, _) -> slab.add(value));
        }

        public Builder number(double value) {
            return add((slab, _) -> slab.add(value));
        }

        /** Adds numbers one by one. */
        public Builder numbers(long... values) {
            for (long value : values) {
                number(value);
            }
            return this;
        }

        /** Adds a number in the type that elements are computed in: double, or float. */
        public Builder computed(double value, boolean wide) {
            float narrow = (float) value;
            return wide ? number(value) : add((slab, _) -> slab.add(narrow));
        }

        /** Adds a struct by value. */
        public Builder struct(MemorySegment struct, int alignment) {
            return add((slab, _) -> slab.add(struct, alignment));
        }

        public KernelCall build() {
            return new KernelCall(kernel, shape, arguments);
        }
    }
}
