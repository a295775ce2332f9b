package dev.tenon.core.lazy;

/**
 * Waits that go on through interrupts: for what must not be left while it is in use. The thread is told of the
 * interrupt afterwards.
 */
public final class Uninterrupted {
    /** What is waited for; begun anew after an interrupt. */
    @FunctionalInterface
    public interface Wait {
        /** Returns when what is waited for has come. */
        void untilDone() throws InterruptedException;
    }

    private Uninterrupted() {}

    /** Waits until {@code wait} returns without an interrupt. */
    public static void run(Wait wait) {
        boolean interrupted = false;
        for (boolean done = false; !done; ) {
            try {
                wait.untilDone();
                done = true;
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
