package dev.tenon.cpu.loops;

/**
 * One vector loop, and whether to use it yet. Vector code that the JVM's optimising compiler (C2) has not compiled runs
 * hundreds of times slower than the plain loop it replaces, so a loop is taken into use only when {@link WarmUp} has
 * seen it run faster. In a JVM without C2 that never happens, and nothing is lost.
 */
public final class HotLoop {
    private static final int COLD = 0;
    private static final int WAITING = 1;
    private static final int READY = 2;
    private static final int REFUSED = 3;

    /** Faster by that much three times in a row: a batch takes the least of many runs, so noise seldom decides. */
    private static final double GAIN = 1.05;

    private static final int WINS = 3;

    /** Runs after which the plain loop is taken for compiled. */
    private static final int PLAIN_RUNS = 1000;

    /** Runs over few elements take a method from the interpreter, where vectors are the slowest, to C1. */
    private static final int BRIEF_RUNS = 250;

    /** A batch whose runs are not shorter than the best by this factor made no progress. */
    private static final double PROGRESS = 0.95;

    /** A loop within that factor of the plain one is compiled: before, all or a part of it is slower by far more. */
    private static final double COMPILED = 2;

    /** Batches without progress after which a compiled loop is no gain. */
    private static final int STEADY = 100;

    /** The same for a loop that is not compiled: C2 is busy or absent. Takes some ten seconds. */
    private static final int HOPELESS = 300;

    private static final long BATCH_NANOS = 5_000_000;

    /**
     * Questions before a loop is put on the list whose plain form C2 turns into vectors as well. To compile a vector
     * loop costs the machine some tenths of a second, and it saves about a third of the plain loop's time, which is
     * microseconds a question: before, a short process would pay for what it does not use.
     */
    static final int WORTH = 1_000_000;

    private final String name;
    private final int worth;
    private final Side vector;
    private final Side plain;
    private volatile int state = COLD;
    /** Threads may lose counts to each other: a few more questions do no harm. */
    private int questions;

    private int batches;
    private int wins;
    private int steady;

    /** A loop on dummy data. */
    @FunctionalInterface
    public interface Work {
        /** Runs each branch of the loop: over a vector or two if brief, else for some microseconds once compiled. */
        void run(boolean brief);
    }

    /** A loop and how fast it is. */
    private static final class Side {
        private final Work work;
        private int runs;
        private double best = Double.MAX_VALUE;

        Side(Work work) {
            this.work = work;
        }

        /** Nanoseconds of the shortest of several runs: others use the machine too. */
        double batch(boolean brief) {
            long least = Long.MAX_VALUE;
            long start = System.nanoTime();
            long before = start;
            do {
                work.run(brief);
                runs++;
                long now = System.nanoTime();
                least = Math.min(least, now - before);
                before = now;
            } while (before - start < BATCH_NANOS);
            return least;
        }
    }

    /** A loop that is put on the list at the first question: its plain form is many times slower. */
    public HotLoop(String name, Work vector, Work plain) {
        this(name, 1, vector, plain);
    }

    /**
     * @param worth the questions that put it on the list
     * @param plain the same work as the vector loop's by the plain loop
     */
    HotLoop(String name, int worth, Work vector, Work plain) {
        this.name = name;
        this.worth = worth;
        this.vector = new Side(vector);
        this.plain = new Side(plain);
    }

    /** A loop in the state that {@link Vectors#mode()} asks for. */
    public static HotLoop inMode(String name, Work vector, Work plain) {
        return new HotLoop(name, vector, plain).inMode();
    }

    /** This loop, in the state that {@link Vectors#mode()} asks for. */
    HotLoop inMode() {
        switch (Vectors.mode()) {
            case Vectors.VECTOR -> adopt();
            case Vectors.SCALAR -> refuse();
            default -> {}
        }
        return this;
    }

    /** Whether to use the loop now; many questions put it on the list of those to warm up. */
    public boolean ready() {
        int now = state;
        if (now == READY) {
            return true;
        }
        if (now == COLD && ++questions >= worth) {
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
            } catch (OutOfMemoryError e) { // no thread is to be had either; plain loops serve meanwhile
                state = COLD; // the next question asks again
            } catch (Throwable e) {
                state = COLD;
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
        batches++;
        boolean plainKnown = plain.runs >= PLAIN_RUNS;
        if (!plainKnown || wins > 0) {
            plain.best = Math.min(plain.best, plain.batch(false));
        }
        if (vector.runs < BRIEF_RUNS) {
            vector.batch(true);
            return;
        }
        double nanos = vector.batch(false);
        steady = nanos < vector.best * PROGRESS ? 0 : steady + 1;
        vector.best = Math.min(vector.best, nanos);
        // interpreted code beats interpreted code too: wait until the plain loop is compiled
        wins = plainKnown && nanos * GAIN < plain.best ? wins + 1 : 0;
        if (state != WAITING) {
            return;
        }
        if (wins == WINS) {
            state = READY;
        } else if (wins == 0 && steady >= (vector.best < COMPILED * plain.best ? STEADY : HOPELESS)) {
            state = REFUSED;
        }
    }

    int batches() {
        return batches;
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
