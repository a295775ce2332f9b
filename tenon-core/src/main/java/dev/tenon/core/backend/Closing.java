package dev.tenon.core.backend;

import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Closes several things, each of them even where an earlier one fails. Each step is idempotent, so the whole may be
 * run again after a failure and does what is left. Used by one thread.
 */
public final class Closing {
    private @Nullable Throwable first;

    /** Begins with nothing closed. */
    public Closing() {}

    /** Runs one step. What it throws is kept for {@link #end}. */
    public void step(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            if (first == null) {
                first = e;
            } else {
                suppress(first, e);
            }
        }
    }

    /** Closes each of them, a step each, and takes out those that are closed: what is left is for the next attempt. */
    public <T> void each(Collection<T> left, Consumer<? super T> close) {
        for (T one : List.copyOf(left)) {
            step(() -> {
                close.accept(one);
                left.remove(one);
            });
        }
    }

    /** Throws what the first step that failed threw, the others' failures suppressed by it. */
    public void end() {
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /**
     * Gives back what a constructor or a call took before it failed. A failure of that, too, is suppressed by the
     * first one, which the caller throws.
     */
    public static void after(Throwable failure, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException | Error e) {
            suppress(failure, e);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same object cannot be suppressed by itself
    private static void suppress(Throwable failure, Throwable further) {
        if (failure != further) {
            failure.addSuppressed(further);
        }
    }
}
