package dev.tenon.cli.console;

import java.io.PrintWriter;

/** A line on a terminal that says what is going on; silent in a pipe. */
public final class Progress implements AutoCloseable {
    private static final String ERASE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean shown;
    private boolean dirty;

    @SuppressWarnings("SystemConsoleNull") // null still where -Djdk.console=java.base asks for the old console
    public Progress(PrintWriter err) {
        this.err = err;
        this.shown = System.console() != null && System.console().isTerminal();
    }

    public void say(String what) {
        if (shown) {
            err.print(ERASE + what);
            err.flush();
            dirty = true;
        }
    }

    /** Takes the line away. */
    @Override
    public void close() {
        if (dirty) {
            err.print(ERASE);
            err.flush();
            dirty = false;
        }
    }
}
