package dev.tenon.collective.inprocess;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A channel from one rank to another. A message is not copied: the receiver reads the sender's memory, and says when it
 * is done.
 *
 * <p>One sender, one receiver. Each counts in a cell that only it writes; the cells lie in cache lines of their own.
 */
final class Link {
    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int LINE = 16;
    private static final int POSTED = LINE;
    private static final int RELEASED = 3 * LINE;
    private static final int SLOTS = 4;

    private final long[] counts = new long[4 * LINE];
    private final @Nullable Object[] arrays = new Object[SLOTS];
    private final Waiter sender;
    private final Waiter receiver;
    // made once: a method reference to this is an object
    private final BooleanSupplier posted = this::holdsMessages;
    private final BooleanSupplier room = this::hasRoom;
    private final BooleanSupplier empty = this::isEmpty;
    private final BooleanSupplier lastOnly = this::holdsLastOnly;

    Link(Waiter sender, Waiter receiver) {
        this.sender = sender;
        this.receiver = receiver;
    }

    private long count(int which) {
        return (long) COUNTS.getVolatile(counts, which);
    }

    private boolean holdsMessages() {
        return waiting() > 0;
    }

    private boolean hasRoom() {
        return waiting() < SLOTS;
    }

    private boolean isEmpty() {
        return waiting() == 0;
    }

    private boolean holdsLastOnly() {
        return waiting() <= 1;
    }

    private long waiting() {
        return count(POSTED) - count(RELEASED);
    }

    /** The sender's: shows the receiver an array, or a buffer, that the sender leaves alone until it is released. */
    void post(Object message, Wait wait) {
        wait.until(room);
        long at = (long) COUNTS.get(counts, POSTED);
        arrays[(int) (at & (SLOTS - 1))] = message;
        COUNTS.setVolatile(counts, POSTED, at + 1);
        receiver.wake();
    }

    /** The sender's: waits until the receiver is done with all messages. */
    void awaitReleased(Wait wait) {
        wait.until(empty);
    }

    /** The sender's: waits until the receiver is done with all messages but the last. */
    void awaitReleasedButLast(Wait wait) {
        wait.until(lastOnly);
    }

    /** The receiver's: waits for the next message; it is the receiver's until {@link #release}. */
    <T> T take(Class<T> type, Wait wait) {
        wait.until(posted);
        Object message = arrays[(int) ((long) COUNTS.get(counts, RELEASED) & (SLOTS - 1))];
        return type.cast(message);
    }

    /** The receiver's: it will not look at the message again. */
    void release() {
        long at = (long) COUNTS.get(counts, RELEASED);
        arrays[(int) (at & (SLOTS - 1))] = null; // or a link would keep the last buffers alive
        COUNTS.setVolatile(counts, RELEASED, at + 1);
        sender.wake();
    }
}
