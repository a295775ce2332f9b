package dev.tenon.cuda.lower.step;

/** A step of an operation whose result has no elements: launches nothing. */
public record NoWork(String tier) implements GpuStep {
    @Override
    public void enqueue(GpuFrame frame) {}
}
