package dev.tenon.core.options;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;

/**
 * Says how the steps of a plan reach a GPU. Results are bit-identical under every execution. The CPU backend ignores
 * it. Immutable.
 *
 * @param streams how many streams the steps are spread over, 1 to {@value #MOST_STREAMS}
 * @param recorded whether a session records the work of a plan and replays it, rather than enqueue each step at every
 *     run
 */
public record Execution(int streams, boolean recorded) {
    /** The most streams that a session may use. */
    public static final int MOST_STREAMS = 16;

    private static final String STREAM = "stream";
    private static final String GRAPH = "graph";
    private static final String MULTI = "multi";

    /**
     * Checks the number of streams.
     *
     * @throws InputException when {@code streams} is out of bounds
     */
    public Execution {
        if (streams < 1 || streams > MOST_STREAMS) {
            throw InputException.of(
                    "streams", "argument \"streams\" is " + streams + "; expected 1 to " + MOST_STREAMS);
        }
    }

    /** Returns the default: each step is enqueued on one stream at every run. */
    public static Execution stream() {
        return new Execution(1, false);
    }

    /** Returns the execution whose first runs of a plan record its work; later runs replay it with one call. */
    public static Execution graph() {
        return new Execution(1, true);
    }

    /**
     * Returns the execution that spreads steps over streams by their dependencies, and enqueues them at every run.
     *
     * @throws InputException when {@code streams} is not 1 to {@value #MOST_STREAMS}
     */
    public static Execution multiStream(int streams) {
        return new Execution(streams, false);
    }

    /** Returns this execution with its work recorded and replayed: all streams in one graph. */
    public Execution asGraph() {
        return new Execution(streams, true);
    }

    /**
     * Reads {@code stream}, {@code graph}, {@code multi:N} or {@code graph:N}, where N is a number of streams.
     *
     * @throws InputException for any other text
     */
    public static Execution parse(String text) {
        Require.nonNull(text, "text");
        int colon = text.indexOf(':');
        String word = colon < 0 ? text : text.substring(0, colon);
        String count = colon < 0 ? "" : text.substring(colon + 1);
        if (colon < 0 && (word.equals(STREAM) || word.equals(GRAPH))) {
            return new Execution(1, word.equals(GRAPH));
        }
        if ((word.equals(MULTI) || word.equals(GRAPH)) && count.matches("[1-9][0-9]?")) {
            return new Execution(Integer.parseInt(count), word.equals(GRAPH));
        }
        throw InputException.of(
                "execution",
                "execution \"" + text + "\" is unknown; expected stream, graph, multi:N or graph:N with N from 1 to "
                        + MOST_STREAMS);
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        if (streams == 1) {
            return recorded ? GRAPH : STREAM;
        }
        return (recorded ? GRAPH : MULTI) + ":" + streams;
    }
}
