package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.LaunchShape;

/** Launch shapes of kernels that walk on by themselves where a grid is too small. */
public final class Grids {
    public static final int THREADS = 256;

    private Grids() {}

    /** A thread a piece of work, at least 1 in all. */
    public static LaunchShape of(long pieces) {
        return of(pieces, THREADS);
    }

    public static LaunchShape of(long pieces, int threads) {
        return LaunchShape.of((int) Math.min(Math.ceilDiv(pieces, (long) threads), Integer.MAX_VALUE), threads);
    }
}
