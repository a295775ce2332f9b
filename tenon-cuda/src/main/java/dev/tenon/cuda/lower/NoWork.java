package dev.tenon.cuda.lower;

/** A step of an operation whose result has no elements: launches nothing. */
record NoWork(String tier) implements GpuStep {
    @Override
    public void enqueue(GpuFrame frame) {}
}
