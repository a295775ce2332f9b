package dev.tenon.cuda.lower.step;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A kernel, the shape of its launch, and where each of its arguments comes from in a frame. Thread-safe. */
public final class PreparedLaunch implements LaunchStep.Work {
    /** Puts one argument into the slab. */
    @FunctionalInterface
    private interface Argument {
        void add(GpuFrame frame, KernelArguments arguments);
    }

    private record Encoded(long address, MemorySegment map) {}

    private final Kernel kernel;
    private final LaunchShape shape;
    private final List<Argument> arguments;

    private PreparedLaunch(Builder builder) {
        this.kernel = builder.kernel;
        this.shape = builder.shape;
        this.arguments = List.copyOf(builder.arguments);
    }

    /** Starts a launch; arguments follow in the order of the kernel's parameters. */
    public static Builder of(Kernel kernel, LaunchShape shape) {
        return new Builder(kernel, shape);
    }

    /** Fills the frame's slab and enqueues the launch on its stream. */
    @Override
    public void enqueue(GpuFrame frame) {
        KernelArguments slab = frame.arguments().clear();
        for (Argument argument : arguments) {
            argument.add(frame, slab);
        }
        frame.stream().launch(kernel.function(), shape, slab);
    }

    /** Collects arguments. Used by one thread. */
    public static final class Builder {
        private final Kernel kernel;
        private final LaunchShape shape;
        private final List<Argument> arguments = new ArrayList<>();

        private Builder(Kernel kernel, LaunchShape shape) {
            this.kernel = kernel;
            this.shape = shape;
        }

        private Builder argument(Argument argument) {
            arguments.add(argument);
            return this;
        }

        /** The address of a value; the null pointer for a negative slot. */
        public Builder value(int slot) {
            return slot < 0 ? none() : argument((frame, slab) -> slab.add(frame.at(slot)));
        }

        /** How bulk copies see a value, as a device encodes it: anew where its address is not that of before. */
        public Builder map(int slot, GpuContext device, LongFunction<TensorMap> at) {
            AtomicReference<@Nullable Encoded> last = new AtomicReference<>();
            return argument((frame, slab) -> {
                long address = frame.at(slot);
                Encoded found = last.get();
                if (found == null || found.address != address) {
                    found = new Encoded(address, device.encode(at.apply(address)));
                    last.set(found);
                }
                slab.add(found.map, TensorMap.ALIGNMENT);
            });
        }

        /** An address in a value, in bytes from its start; the null pointer for a negative slot. */
        public Builder value(int slot, long offset) {
            return slot < 0 ? none() : argument((frame, slab) -> slab.add(frame.at(slot) + offset));
        }

        /** An address in the workspace, in bytes from its start. */
        public Builder workspace(long offset) {
            return argument((frame, slab) -> slab.add(frame.workspace() + offset));
        }

        /** The address of the zeroed counters. */
        public Builder counters() {
            return argument((frame, slab) -> slab.add(frame.counters()));
        }

        /** The null pointer. */
        public Builder none() {
            return add(0L);
        }

        public Builder add(long value) {
            return argument((_, slab) -> slab.add(value));
        }

        /** Numbers one by one. */
        public Builder addAll(long... values) {
            for (long value : values) {
                add(value);
            }
            return this;
        }

        public Builder add(int value) {
            return argument((_, slab) -> slab.add(value));
        }

        public Builder add(boolean value) {
            return add(value ? 1 : 0);
        }

        public Builder add(double value) {
            return argument((_, slab) -> slab.add(value));
        }

        /** A number in the type that {@code dtype} is computed in: double for f64, else float. */
        public Builder compute(DType dtype, double value) {
            return dtype == DType.F64 ? add(value) : argument((_, slab) -> slab.add((float) value));
        }

        /** A struct of 64-bit words by value. */
        public Builder struct(long... words) {
            MemorySegment segment = MemorySegment.ofArray(words.clone()).asReadOnly();
            return argument((_, slab) -> slab.add(segment, Long.BYTES));
        }

        /** A struct by value. */
        public Builder struct(MemorySegment struct, int alignment) {
            return argument((_, slab) -> slab.add(struct, alignment));
        }

        /** The word of faults, and the number of the step that is being made. */
        public Builder faults(GpuLoweringContext context) {
            int step = context.stepNumber();
            return argument((frame, slab) -> slab.add(frame.faults()).add(step));
        }

        public PreparedLaunch build() {
            return new PreparedLaunch(this);
        }
    }
}
