package dev.tenon.cuda.lower.convolution;

import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A convolution of a new size by a kernel of ours until cuDNN's engines have been timed, and by the fastest from then
 * on: an engine that has not run yet has its kernel to load, which takes as long as several runs of a model.
 *
 * @param ours runs first
 * @param library runs once its plan is ready
 */
record LaterConv(GpuStep ours, DnnConv library) implements GpuStep {
    /**
     * The library's step where its plan is ready, or both.
     *
     * @param ours makes the step that its plan's problem has as a rival
     */
    static GpuStep until(DnnConv library, Supplier<@Nullable GpuStep> ours) {
        return library.plan().isReady()
                ? library
                : new LaterConv(Objects.requireNonNull(ours.get(), "a rival is a step of ours"), library);
    }

    private GpuStep now() {
        return library.plan().isReady() ? library : ours;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        now().enqueue(frame);
    }

    @Override
    public String tier() {
        return now().tier();
    }

    @Override
    public List<String> passedOver() {
        return library.plan().isReady()
                ? library.passedOver()
                : List.of("1 fused, 2 cudnn: " + library.plan().unready());
    }

    @Override
    public long workspaceBytes() {
        return Math.max(ours.workspaceBytes(), library.workspaceBytes());
    }

    @Override
    public long counterBytes() {
        return Math.max(ours.counterBytes(), library.counterBytes());
    }
}
