package dev.tenon.cuda.driver;

import dev.tenon.core.error.ClosedException;

/** A native object with one owner: a section around every call, and one destruction. */
abstract class Owned implements AutoCloseable {
    final CudaContext context;
    final PrimaryContext primary;
    private final CallGate gate = new CallGate();

    Owned(CudaContext context) {
        this.context = context;
        this.primary = context.primary();
    }

    /** For messages: {@code stream}. */
    abstract String kind();

    /** Gives the native object back; the context is current. Called once. */
    abstract void destroy();

    /** What has to happen before the destruction even when the context is lost. */
    void beforeDestroy() {}

    /** Starts a section: the context is current until something blocks. {@link #exit} must follow. */
    final void enter() {
        if (!gate.enter()) {
            throw closedFault();
        }
        try {
            primary.makeCurrent();
        } catch (RuntimeException | Error e) {
            gate.exit();
            throw e;
        }
    }

    final void exit() {
        gate.exit();
    }

    final boolean closed() {
        return gate.closed();
    }

    final void requireOpen() {
        if (gate.closed()) {
            throw closedFault();
        }
    }

    final ClosedException closedFault() {
        return new ClosedException(primary.name() + ": this " + kind() + " is closed");
    }

    @Override
    public final void close() {
        if (!gate.close(primary::abandoned)) {
            return;
        }
        try {
            beforeDestroy();
            primary.destroying(kind(), this::destroy);
        } finally {
            context.release(this); // last, for the context's own close waits until nothing is left
        }
    }
}
