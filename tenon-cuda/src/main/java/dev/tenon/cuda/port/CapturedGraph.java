package dev.tenon.cuda.port;

/** Recorded work. Closed by who captured it. */
public interface CapturedGraph extends AutoCloseable {
    /** How many nodes there are. */
    int nodes();

    /** Whether some node allocates or frees memory; such a graph must not be replayed. */
    boolean allocates();

    /** Makes it launchable. */
    ExecutableGraph instantiate();

    @Override
    void close();
}
