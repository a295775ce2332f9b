package dev.tenon.cuda.tuning;

/**
 * A kernel of ours that makes what an operation of a library makes: timed beside the library's algorithms, and taken by
 * the next that is prepared for such a problem where it is the fastest. Thread-safe.
 */
public interface Rival {
    /** As {@link Choice#algorithm} has it. */
    String ALGORITHM = "ours";

    /**
     * What a class of problems is called where it is timed too. Those with and without a rival are different classes:
     * what was the fastest of one would be passed over, timed anew and overwritten by the other.
     */
    static String besides(boolean rivalled) {
        return rivalled ? " beside ours" : "";
    }

    /**
     * That it was the fastest, in words.
     *
     * @param timed of how many
     */
    static String faster(int timed) {
        return "a kernel of ours is faster" + (timed > 1 ? ", " + Choice.words(timed) : "");
    }

    /** Bytes of device memory that its trial takes at most. */
    long trialBytes();

    /**
     * Loads the kernels of such an operation and makes it once, so that the next is made sooner; compiles nothing.
     *
     * @return whether all its kernels were at hand
     */
    boolean rehearse();

    /** A trial of it, whose algorithm is {@link #ALGORITHM}. */
    Tunable.Trial trial();
}
