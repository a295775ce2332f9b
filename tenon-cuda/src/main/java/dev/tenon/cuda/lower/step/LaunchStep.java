package dev.tenon.cuda.lower.step;

import dev.tenon.cuda.kernel.CopyKernel;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import java.util.function.LongFunction;

/**
 * A step of launches one after another, all prepared when the plan is made. Immutable.
 *
 * @param workspaceBytes bytes of workspace that they use
 * @param counterBytes bytes of zeroed counters that they use
 * @param faults what a reported value means, in words
 * @param passedOver each implementation before it in the ladder, with the reason it was not taken
 */
public record LaunchStep(
        String tier,
        List<Work> works,
        long workspaceBytes,
        long counterBytes,
        LongFunction<String> faults,
        List<String> passedOver)
        implements GpuStep {
    public LaunchStep {
        works = List.copyOf(works);
        passedOver = List.copyOf(passedOver);
    }

    /** A step that is the first of its ladder. */
    public LaunchStep(
            String tier, List<Work> works, long workspaceBytes, long counterBytes, LongFunction<String> faults) {
        this(tier, works, workspaceBytes, counterBytes, faults, List.of());
    }

    /** A step without counters. */
    public LaunchStep(String tier, List<Work> works, long workspaceBytes, LongFunction<String> faults) {
        this(tier, works, workspaceBytes, 0, faults);
    }

    /** A step that uses no workspace and reports nothing. */
    public LaunchStep(String tier, Work... works) {
        this(tier, List.of(works), 0, GpuStep::noResult);
    }

    /** A step of one launch that uses no workspace and reports nothing. */
    public static LaunchStep of(String tier, Work work) {
        return of(tier, List.of(work), 0);
    }

    /** A step that reports nothing. */
    public static LaunchStep of(String tier, List<? extends Work> works, long workspaceBytes) {
        return new LaunchStep(tier, List.copyOf(works), workspaceBytes, GpuStep::noResult);
    }

    /** The same step with words for faults. */
    public LaunchStep withFaults(LongFunction<String> words) {
        return new LaunchStep(tier, works, workspaceBytes, counterBytes, words, passedOver);
    }

    /** The same step, which says why others were not taken. */
    public LaunchStep passing(List<String> reasons) {
        return new LaunchStep(tier, works, workspaceBytes, counterBytes, faults, reasons);
    }

    /** Something that a step enqueues. */
    @FunctionalInterface
    public interface Work {
        void enqueue(GpuFrame frame);
    }

    /** Adds the arguments of a launch to an empty slab, in the order of the kernel's parameters. */
    @FunctionalInterface
    public interface Arguments {
        KernelArguments fill(KernelArguments empty, GpuFrame frame);
    }

    /** A launch of a kernel. */
    public static Work launch(Kernel kernel, LaunchShape shape, Arguments arguments) {
        return frame -> frame.stream()
                .launch(
                        kernel.function(),
                        shape,
                        arguments.fill(frame.arguments().clear(), frame));
    }

    /** A copy of a value's bytes, at least one, over another value. */
    public static Work copy(GpuLoweringContext context, int from, int to, long bytes) {
        CopyKernel kernel = new CopyKernel(context.kernels());
        return frame -> kernel.enqueue(frame.stream(), frame.arguments(), frame.at(from), frame.at(to), bytes);
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (Work work : works) {
            work.enqueue(frame);
        }
    }

    @Override
    public String fault(long value) {
        return faults.apply(value);
    }
}
