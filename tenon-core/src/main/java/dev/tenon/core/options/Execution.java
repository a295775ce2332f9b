package dev.tenon.core.options;

/** How the steps of a plan reach a GPU. The results are the same; the CPU runs step by step whatever is said here. */
public enum Execution {
    /** Each step is enqueued at every run. */
    STREAM,
    /** The first run of a plan in a session records the work, later runs replay it with one call. */
    GRAPH;

    /** {@link #STREAM}. */
    public static Execution stream() {
        return STREAM;
    }

    /** {@link #GRAPH}. */
    public static Execution graph() {
        return GRAPH;
    }
}
