package dev.tenon.collective;

import java.util.Locale;

/** The ways to an all-reduce within a process. */
public enum Algorithm {
    /** By length, ranks and cores; see {@code docs/adr} for the measurements. */
    AUTO,
    /** Scatter-reduce, then all-gather, world − 1 steps each; a rank talks to its neighbours only. */
    RING,
    /**
     * Ranks show each other their buffers, and each running rank sums pieces of them, in the ring's order: the same
     * bits as {@link #RING}.
     */
    DIRECT,
    /**
     * Pairs at distance 1, 2, 4, … exchange whole vectors: few steps, but each moves everything; adds up in another
     * order than the ring.
     */
    DOUBLING;

    /** The lower-case name. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
