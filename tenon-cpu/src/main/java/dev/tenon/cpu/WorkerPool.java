package dev.tenon.cpu;

/** To be written: persistent workers. */
final class WorkerPool implements AutoCloseable {
    private final int threads;

    WorkerPool(int threads) {
        this.threads = threads;
    }

    int threads() {
        return threads;
    }

    void run(Frame frame, RangeTask task, long count, long grain) {
        if (count > 0 && grain > 0) {
            task.run(frame, 0, count, 0);
        }
    }

    @Override
    public void close() {}
}
