package dev.tenon.cuda.blas;

/** A session's handle for library calls, bound to one stream. Used by one thread at a time. */
public final class BlasHandle implements AutoCloseable {
    BlasHandle() {}

    @Override
    public void close() {}
}
