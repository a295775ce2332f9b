package dev.tenon.core.compiler.memory;

/**
 * Where a value lies during a run. A value that shares another's memory (a reshape, an elementwise result written over
 * its input) has the same placement.
 */
public sealed interface Placement {
    /** In the memory of the run's {@code index}-th input; never written. */
    record Input(int index) implements Placement {}

    /** In the memory of the run's {@code index}-th output. */
    record Output(int index) implements Placement {}

    /** In the memory of a constant; never written. */
    record Constant() implements Placement {}

    /**
     * In the session's arena: {@code bytes} from {@code offset} on, which is a multiple of
     * {@link MemoryPlan#ALIGNMENT}.
     */
    record Arena(long offset, long bytes) implements Placement {}
}
