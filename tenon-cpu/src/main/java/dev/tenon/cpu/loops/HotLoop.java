package dev.tenon.cpu.loops;

/**
 * One vector loop, and whether to use it yet. Vector code that the JVM's optimising compiler (C2) has not compiled runs hundreds of times slower than the scalar loop it replaces, so a loop is taken into use only when {@link WarmUp} has
 * seen it run faster. In a JVM without C2 that never happens, and nothing is lost.
 */
public final class HotLoop {
    private static final int COLD = 0;
    private static final int WAITING = 1;
    private static final int READY = 2;
    private static final int REFUSED = 3;

    /** Faster by that much, three times in a row: C2's code is 3 to 40 times as fast, so noise does not decide. */
    private static final double GAIN = 1.25;

    private static final int WINS = 3;
    /** Give up after that many batches, which takes most of a minute. */
    private static final int BATCHES = 1000;

    /** Of both loops together, before they are compared. */
    private static final int RUNS = 2000;

    private static final long BATCH_NANOS = 5_000_000;

    private final String name;
    private final Runnable vector;
    private final Runnable scalar;
    private volatile int state = COLD;
    private int batches;
    private int wins;
    private int runs;
    private double scalarBest = Double.MAX_VALUE;

    /**
     * @param vector runs the loop on dummy data, each branch of it, for some microseconds once compiled
     * @param scalar the same work by the scalar loop
     */
    public HotLoop(String name, Runnable vector, Runnable scalar) {
        this.name = name;
        this.vector = vector;
        this.scalar = scalar;
    }

    /** Whether to use the loop now; the first question puts it on the list of those to warm up. */
    public boolean ready() {
        int now = state;
        if (now == READY) {
            return true;
        }
        if (now == COLD) {
            request();
        }
        return false;
    }

    public void request() {
        synchronized (this) {
            if (state != COLD) {
                return;
            }
            state = WAITING;
            try {
                WarmUp.add(this);
            } catch (Throwable e) {
                state = COLD; // the next question asks again
                throw e;
            }
        }
    }

    /** Uses the loop from now on, compiled or not. */
    public void adopt() {
        state = READY;
    }

    /** Never uses it. */
    void refuse() {
        state = REFUSED;
    }

    boolean isWaiting() {
        return state == WAITING;
    }

    /** A few runs of both loops; decides when it can. */
    void batch() {
        double ofVector = nanosPerRun(vector);
        scalarBest = Math.min(scalarBest, nanosPerRun(scalar));
        batches++;
        // interpreted code beats interpreted code too: wait until the scalar loop is compiled, which takes it 200 runs
        wins = ofVector * GAIN < scalarBest && runs >= RUNS ? wins + 1 : 0;
        if (state != WAITING) {
            return;
        }
        if (wins == WINS) {
            state = READY;
        } else if (batches == BATCHES) {
            state = REFUSED;
        }
    }

    int batches() {
        return batches;
    }

    /** The least of several runs: others use the machine too. */
    private double nanosPerRun(Runnable body) {
        long best = Long.MAX_VALUE;
        long start = System.nanoTime();
        long before = start;
        do {
            body.run();
            runs++;
            long now = System.nanoTime();
            best = Math.min(best, now - before);
            before = now;
        } while (before - start < BATCH_NANOS);
        return best;
    }

    @Override
    public String toString() {
        return name + " "
                + switch (state) {
                    case COLD -> "cold";
                    case WAITING -> "waiting, " + batches + " batches";
                    case READY -> "ready";
                    default -> "refused";
                };
    }
}
