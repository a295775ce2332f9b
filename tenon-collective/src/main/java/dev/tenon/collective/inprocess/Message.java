package dev.tenon.collective.inprocess;

import dev.tenon.collective.HostBuffer;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * A buffer that one rank offers to another. The receiver copies out of it, unless the sender took the offer back
 * before. Thread-safe.
 */
final class Message {
    private enum State {
        OFFERED,
        TAKEN,
        COPIED,
        REFUSED,
        WITHDRAWN
    }

    final HostBuffer buffer;
    final BooleanSupplier answered = () -> answered();
    private final AtomicReference<State> state = new AtomicReference<>(State.OFFERED);
    private volatile String answer = "";

    Message(HostBuffer buffer) {
        this.buffer = buffer;
    }

    /** The receiver's: from now on the sender waits for the answer. Returns false when the offer was withdrawn. */
    boolean take() {
        return state.compareAndSet(State.OFFERED, State.TAKEN);
    }

    /** The receiver's answer: it has what it wanted. */
    void copied() {
        state.set(State.COPIED);
    }

    /** The receiver's answer: it cannot use this, and why, in words for the sender. */
    void refuse(String why) {
        answer = why;
        state.set(State.REFUSED);
    }

    /**
     * The sender's. Returns false when the receiver has taken the message, and will answer soon.
     *
     * @param why in words for the receiver, when it is to fail as well; empty when it is to wait for another message
     */
    boolean withdraw(String why) {
        answer = why;
        return state.compareAndSet(State.OFFERED, State.WITHDRAWN);
    }

    boolean refused() {
        return state.get() == State.REFUSED;
    }

    /** Why the message was refused, or withdrawn. */
    String answer() {
        return answer;
    }

    private boolean answered() {
        State now = state.get();
        return now == State.COPIED || now == State.REFUSED;
    }
}
