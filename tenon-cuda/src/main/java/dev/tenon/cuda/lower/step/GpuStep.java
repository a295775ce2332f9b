package dev.tenon.cuda.lower.step;

import java.util.List;

/**
 * The work of one node: enqueues launches and returns. Immutable; shared by the sessions of a model. Reads and writes
 * exactly the memory of its node's values, and what it asks for here.
 */
public non-sealed interface GpuStep extends Lowered {
    /**
     * Enqueues the work on the frame's stream. Called while the stream captures, too: it must not wait, allocate or
     * touch host memory that may move.
     */
    void enqueue(GpuFrame frame);

    /** Which implementation it is. */
    String tier();

    /** Each implementation before it in the ladder, with the reason it was not taken. */
    default List<String> passedOver() {
        return List.of();
    }

    /**
     * In words, what a fault that the step's kernel reported with that value means: {@code index 7 is out of range}.
     */
    default String fault(long value) {
        return noResult(value);
    }

    /** What a reported value means where a step says no more. */
    static String noResult(long value) {
        return "the value " + value + " has no result";
    }

    /** Whether the work is all on the stream, so that it can be recorded and replayed. */
    default boolean recordable() {
        return true;
    }

    /** Bytes of {@link GpuFrame#workspace()} that it uses; what is in them before and after means nothing. */
    default long workspaceBytes() {
        return 0;
    }

    /** Bytes of {@link GpuFrame#counters()} that it uses. They are 0 before it and must be 0 after it. */
    default long counterBytes() {
        return 0;
    }

    /** Whether it calls cuBLAS, which is then started before anything is recorded. */
    default boolean callsCublas() {
        return false;
    }
}
