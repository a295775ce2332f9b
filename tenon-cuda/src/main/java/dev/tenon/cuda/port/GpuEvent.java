package dev.tenon.cuda.port;

/** A mark in a stream. */
public interface GpuEvent extends AutoCloseable {
    /** Whether everything before the last record is done; true when never recorded. */
    boolean passed();

    /** Waits until {@link #passed()}. */
    void synchronize();

    /** Device time from the earlier event to this one, both passed and made with timing. */
    double microsecondsSince(GpuEvent earlier);

    @Override
    void close();
}
