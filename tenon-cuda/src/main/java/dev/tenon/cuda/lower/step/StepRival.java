package dev.tenon.cuda.lower.step;

import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.Value;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A step of our kernels as a library's rival. It is made when it is tried, on kernels that outlive plans.
 *
 * @param kernels compile and load when they are asked
 * @param precision of the plan
 * @param operandBytes of the values in slots 0, 1, …; the last of them holds the result
 * @param make the step on those slots; null where there is none
 */
public record StepRival(
        Kernels kernels,
        Precision precision,
        List<Long> operandBytes,
        Function<GpuLoweringContext, @Nullable GpuStep> make)
        implements Rival {
    /** Of workspace and counters that a trial is given; a step that wants more is not tried. */
    private static final long WORKSPACE = 32 << 20;

    private static final long COUNTERS = 1 << 16;

    private static final String REASON = "a trial of our kernels";

    public StepRival {
        operandBytes = List.copyOf(operandBytes);
    }

    @Override
    public long trialBytes() {
        return operandBytes.stream().mapToLong(Tunable::whole).sum() + WORKSPACE + COUNTERS;
    }

    @Override
    public Tunable.Trial trial() {
        return new Trial();
    }

    @Override
    public boolean rehearse() {
        try {
            kernels.context().linkMaps();
            return make.apply(new Context(new AtHand(kernels))) != null;
        } catch (UnsupportedException _) {
            return false; // something would have to be compiled
        }
    }

    /** Kernels that need no compiler. */
    private record AtHand(Kernels all) implements Kernels {
        @Override
        public GpuContext context() {
            return all.context();
        }

        @Override
        public boolean compilesSpecific() {
            return all.compilesSpecific();
        }

        @Override
        public Kernel kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes) {
            if (!all.holds(file, variant)) {
                throw new UnsupportedException(file.path() + " is not compiled yet");
            }
            return all.kernel(file, entry, variant, sharedBytes);
        }
    }

    /** Used by one thread. */
    private final class Trial implements Tunable.Trial {
        private final Arena arena = Arena.ofShared(); // prepared and closed under the library's lock, run outside it
        private @Nullable GpuStep step;
        private @Nullable GpuFrame frame;

        @Override
        public String algorithm() {
            return ALGORITHM;
        }

        @Override
        public boolean prepare() {
            try {
                GpuStep made = make.apply(new Context(kernels));
                boolean fits = made != null
                        && made.workspaceBytes() <= WORKSPACE
                        && made.counterBytes() <= COUNTERS
                        && made.recordable();
                step = fits ? made : null;
            } catch (UnsupportedException _) {
                step = null; // nothing compiles it here
            }
            return step != null;
        }

        @Override
        public void enqueue(GpuStream stream, DeviceBuffer memory) {
            GpuStep tried = step;
            if (tried == null) {
                throw new IllegalStateException("the trial is not prepared");
            }
            GpuFrame known = frame;
            if (known == null) {
                known = frame(stream, memory);
                frame = known;
            }
            tried.enqueue(known);
        }

        /** Of the only stream and memory; counters are cleared once, as every run leaves them so. */
        private GpuFrame frame(GpuStream stream, DeviceBuffer memory) {
            long[] addresses = new long[operandBytes.size()];
            long at = memory.address();
            for (int i = 0; i < addresses.length; i++) {
                addresses[i] = at;
                at += Tunable.whole(operandBytes.get(i));
            }
            long counters = at + WORKSPACE;
            stream.fill(memory, counters - memory.address(), COUNTERS, (byte) 0);
            return new GpuFrame(
                    stream,
                    new KernelArguments(arena),
                    new GpuFrame.Addresses(addresses, at, counters, 0),
                    Blas.none(REASON).newHandle(stream), // starts nothing
                    List.of(),
                    (_, _) -> {
                        throw new IllegalStateException("a trial has no host steps");
                    });
        }

        @Override
        public void close() {
            arena.close();
        }
    }

    private final class Context implements GpuLoweringContext {
        private final Kernels from;

        Context(Kernels from) {
            this.from = from;
        }

        @Override
        public int slot(Value value) {
            throw new IllegalStateException("a rival has slots of its own");
        }

        @Override
        public int orderedSlot(Value matrix, WeightOrder order) {
            throw new IllegalStateException("a rival has slots of its own");
        }

        @Override
        public Kernels kernels() {
            return from;
        }

        @Override
        public Precision precision() {
            return precision;
        }

        @Override
        public Blas blas() {
            return Blas.none(REASON);
        }

        @Override
        public Program onHost(Plan plan, String reason) {
            throw new UnsupportedException(reason);
        }

        @Override
        public int stepNumber() {
            return 0;
        }
    }
}
