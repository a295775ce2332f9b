package dev.tenon.core.runtime;

import org.jspecify.annotations.Nullable;

/** Closes several things, each of them even where an earlier one fails. Used by one thread. */
final class Closing {
    private @Nullable Throwable first;

    /** Runs one step. What it throws is kept for {@link #end}. */
    @SuppressWarnings("ReferenceEquality") // the same object cannot be suppressed by itself
    void step(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            if (first == null) {
                first = e;
            } else if (first != e) {
                first.addSuppressed(e);
            }
        }
    }

    /** Throws what the first step that failed threw, the others' failures suppressed by it. */
    void end() {
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
