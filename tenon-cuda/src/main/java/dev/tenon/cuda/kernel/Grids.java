package dev.tenon.cuda.kernel;

import dev.tenon.cuda.port.LaunchShape;

/** Launch shapes of kernels that walk on by themselves where a grid is too small. */
final class Grids {
    static final int THREADS = 256;

    private Grids() {}

    /** A thread a piece of work, at least 1 in all. */
    static LaunchShape of(long pieces) {
        return of(pieces, THREADS);
    }

    static LaunchShape of(long pieces, int threads) {
        return LaunchShape.of((int) Math.min(Math.ceilDiv(pieces, (long) threads), Integer.MAX_VALUE), threads);
    }
}
