package dev.tenon.cuda.lower.elementwise;

import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import java.util.List;

/** A step that another one takes over from, once that is ready: the same work by one launch on the same slots. */
final class ImprovingStep implements GpuStep {
    private volatile GpuStep now;

    ImprovingStep(GpuStep first) {
        this.now = first;
    }

    /** Has the next run, and what is recorded from now on, use that one, which needs no workspace and no library. */
    void goOnAs(GpuStep better) {
        now = better;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        now.enqueue(frame);
    }

    @Override
    public String tier() {
        return now.tier();
    }

    @Override
    public List<String> passedOver() {
        return now.passedOver();
    }

    @Override
    public String fault(long value) {
        return now.fault(value);
    }
}
