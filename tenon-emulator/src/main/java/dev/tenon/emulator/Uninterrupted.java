package dev.tenon.emulator;

/**
 * Waits that go on through interrupts, as those of a GPU's driver do; the thread is told of the interrupt afterwards.
 */
final class Uninterrupted {
    /** What is waited for; begun anew after an interrupt. */
    @FunctionalInterface
    interface Wait {
        void untilDone() throws InterruptedException;
    }

    private Uninterrupted() {}

    static void run(Wait wait) {
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
