package dev.tenon.cuda.blas;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.port.GpuStream;

/** The matrix libraries of one open device. Thread-safe. */
public final class Blas implements AutoCloseable {
    private final String unavailable;

    private Blas(String unavailable) {
        this.unavailable = unavailable;
    }

    /** No library, and why. */
    public static Blas none(String why) {
        return new Blas(why);
    }

    /** One line that says why there is none; empty where there is one. */
    public String unavailable() {
        return unavailable;
    }

    /** A handle bound to a stream. */
    public BlasHandle newHandle(GpuStream stream) {
        throw new UnsupportedException(unavailable);
    }

    @Override
    public void close() {}
}
