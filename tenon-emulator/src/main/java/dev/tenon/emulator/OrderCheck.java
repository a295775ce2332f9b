package dev.tenon.emulator;

/**
 * The streams of a device and what the host has waited for: the host's calls are in order, so what it enqueues comes
 * after what it has waited for. All threads of the host count as one. Thread-safe.
 */
final class OrderCheck {
    private int streams;
    private long[] host = new long[0];

    synchronized OrderClock newClock() {
        return new OrderClock(streams++);
    }

    /** The host has waited for all that is in a clock. */
    synchronized void waited(long[] clock) {
        host = OrderClock.merged(host, clock);
    }

    /** What the host has waited for; not to be changed. */
    synchronized long[] host() {
        return host;
    }
}
