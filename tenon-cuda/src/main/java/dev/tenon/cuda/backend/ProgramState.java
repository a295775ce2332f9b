package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A program's addresses in a session, its work once it is recorded, and the memory of its host steps. Used by one
 * thread at a time.
 */
final class ProgramState implements AutoCloseable {
    /** Runs of the same ends before work is recorded for them, at first: until then inputs and results are copied. */
    private static final int RUNS_BEFORE_BINDING = 2;

    private static final int MOST_RUNS_BEFORE_BINDING = 1 << 20;

    /** Runs that make a recording, which takes some hundred microseconds, worth it. */
    private static final int WORTH = 64;

    /** Callers that keep a result while they make the next one come back to a few addresses. */
    private static final int MOST_BOUND = 4;

    /** Work of one run, or the place for it. */
    static final class Recording {
        /** Where its inputs and results lie; null for the session's own memory. */
        final @Nullable Ends ends;
        /** Runs so far. */
        int runs;

        @Nullable
        RecordedWork work;

        Recording(@Nullable Ends ends) {
            this.ends = ends;
        }

        void forget() {
            if (work != null) {
                work.close();
                work = null;
            }
        }
    }

    final LaneFrames frames;
    final HostSteps host;
    /** Runs step by step by the algorithms that products run by now. */
    int runs;

    /** Of the libraries, when the first of those runs began. */
    int generation;

    /** Between copies of inputs and results. */
    final Recording copied = new Recording(null);

    private int runsBeforeBinding = RUNS_BEFORE_BINDING;
    /** The least recently used first. */
    private final List<Recording> bound = new ArrayList<>();

    ProgramState(LaneFrames frames, HostSteps host) {
        this.frames = frames;
        this.host = host;
    }

    /**
     * The recording for a run's ends; null where they have not come often enough: twice before, and more often where
     * earlier ones went before they were worth it.
     *
     * @param gone told of a recording that is given back for it
     */
    @Nullable
    Recording bound(Ends ends, Consumer<Recording> gone) {
        for (int i = bound.size() - 1; i >= 0; i--) {
            Recording known = bound.get(i);
            if (ends.equals(known.ends)) {
                if (i < bound.size() - 1) {
                    bound.remove(i);
                    bound.add(known);
                }
                return ++known.runs < runsBeforeBinding && known.work == null ? null : known;
            }
        }
        if (bound.size() == MOST_BOUND) {
            Recording oldest = bound.getFirst();
            if (oldest.work != null && oldest.runs < WORTH) {
                runsBeforeBinding = Math.min(2 * runsBeforeBinding, MOST_RUNS_BEFORE_BINDING);
            }
            oldest.forget();
            bound.removeFirst();
            gone.accept(oldest);
        }
        bound.add(new Recording(ends));
        return null;
    }

    /** Whether nothing is recorded for ends. */
    boolean unbound() {
        return bound.stream().allMatch(recording -> recording.work == null);
    }

    /** Everything that is or may be recorded. */
    List<Recording> recordings() {
        List<Recording> all = new ArrayList<>(bound);
        all.add(copied);
        return all;
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        closing.step(this::forget);
        closing.step(host::close);
        closing.end();
    }

    void forget() {
        Closing closing = new Closing();
        recordings().forEach(recording -> closing.step(recording::forget));
        closing.end();
    }
}
