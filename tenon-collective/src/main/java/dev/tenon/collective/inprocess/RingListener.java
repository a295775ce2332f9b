package dev.tenon.collective.inprocess;

import dev.tenon.collective.HostBuffer;

/**
 * Told of every step of a ring, for teaching and for tests. Called on the rank's own thread, and the rank goes on when
 * it returns; only this rank writes {@code state}, so what it holds depends on no other rank's pace.
 */
public interface RingListener {
    /** A step of scatter-reduce: the rank sent a chunk to the right, and folded another from the left into its own. */
    void reduced(int rank, int step, int sent, int received, HostBuffer state);

    /** A step of all-gather: the rank sent a finished chunk to the right and copied another from the left. */
    void gathered(int rank, int step, int sent, int received, HostBuffer state);
}
