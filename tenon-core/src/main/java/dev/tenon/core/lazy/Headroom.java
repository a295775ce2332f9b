package dev.tenon.core.lazy;

import dev.tenon.core.error.OutOfMemoryException;

/**
 * Makes sure that the heap has memory to spare before code runs for the first time.
 *
 * <p>Classes are initialised and call sites (lambdas, switches over patterns) are linked when code first runs. An
 * {@link OutOfMemoryError} in the middle of that is recorded by the JVM, and the code fails for the rest of the process
 * however much memory is freed later. Code that runs first in a run that may meet a full heap is therefore entered
 * behind this check: planning, the first run of a plan, opening a device. Where the heap is large or mostly free, the
 * check reads three numbers; else it allocates what it asks for, which makes the collector find out, and lets it go.
 *
 * <p>Thread-safe. Other threads may take the memory right after the check: it makes the failure unlikely, not
 * impossible.
 */
public final class Headroom {
    /** What planning and a first run of an ordinary plan allocate for classes, call sites and their own objects. */
    private static final int BYTES = 6 << 20;

    /** Small, so that they fit between what lives. */
    private static final int PIECE = 128 << 10;

    /** With as much free, nothing is asked of the collector. */
    private static final long PLENTY = 64L << 20;

    private Headroom() {}

    /**
     * Returns when the heap has memory to spare.
     *
     * @param what names what wants it, for the message
     * @throws OutOfMemoryException when it has not
     */
    public static void require(String what) {
        Runtime jvm = Runtime.getRuntime();
        if (jvm.maxMemory() - jvm.totalMemory() + jvm.freeMemory() >= PLENTY) {
            return;
        }
        try {
            probe();
        } catch (OutOfMemoryError e) {
            throw new OutOfMemoryException(what.concat(
                    ": the Java heap has less than 6 MiB to spare; raise its limit (-Xmx) or let go of objects"));
        }
    }

    /** Whether the heap has memory to spare, for work that can wait. */
    public static boolean there() {
        try {
            require("");
            return true;
        } catch (OutOfMemoryException | OutOfMemoryError _) {
            return false;
        }
    }

    private static void probe() {
        byte[][] pieces = new byte[BYTES / PIECE][];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new byte[PIECE];
        }
    }
}
