package dev.tenon.cuda.tuning;

/**
 * An algorithm of a library that was found fastest.
 *
 * @param algorithm how the library's caller describes it, in one line without tabs
 * @param timed how many it was the fastest of
 */
public record Choice(String algorithm, int timed) {
    /** How a step says that it runs by it: {@code autotuned over 5}; empty where nothing was compared. */
    public static String words(int timed) {
        return timed > 1 ? "autotuned over " + timed : "";
    }
}
