package dev.tenon.cuda.lower;

/** A step of an operation whose result has no elements: launches nothing. */
record NoWork(String tier) implements Step {
    @Override
    public void enqueue(Frame frame) {}
}
