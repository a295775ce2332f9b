package dev.tenon.emulator;

import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import dev.tenon.nativelib.emulated.StreamOrder;
import java.util.Arrays;

/**
 * What the work of one stream comes after: of each stream, how many pieces of work. A vector clock. Used by one thread
 * at a time.
 */
final class OrderClock {
    private final int stream;
    private long[] known;

    /** @param stream its number */
    OrderClock(int stream) {
        this.stream = stream;
        this.known = new long[stream + 1];
    }

    /** The next piece of work begins. */
    void advance() {
        known[stream]++;
    }

    /** What comes from now on comes after all that is in another clock. */
    void join(long[] other) {
        known = merged(known, other);
    }

    static long[] merged(long[] one, long[] other) {
        long[] both = Arrays.copyOf(one, Math.max(one.length, other.length));
        for (int i = 0; i < other.length; i++) {
            both[i] = Math.max(both[i], other[i]);
        }
        return both;
    }

    /** As it is now. */
    long[] copy() {
        return known.clone();
    }

    StreamOrder order() {
        return new StreamOrder(stream, known.clone());
    }

    /**
     * Notes an access of the current piece of work.
     *
     * @throws NativeException when work of another stream need not be done before it
     */
    void note(EmulatorLibrary library, EmulatedBuffer buffer, long offset, long bytes, boolean writes) {
        int other = library.noteOrder(buffer.address() + offset, bytes, writes, order());
        if (other >= 0) {
            throw new NativeException("race between streams: a " + (writes ? "write" : "read") + " of " + bytes
                    + " bytes at offset " + offset + " of a buffer of " + buffer.bytes() + " bytes by stream " + stream
                    + ", which stream " + other + " accesses; no event makes one wait for the other");
        }
    }
}
