package dev.tenon.core.tensor;

import dev.tenon.core.lazy.CleanerThread;

/**
 * Says so, once, when something that holds memory became unreachable without being closed. It reports; it does not
 * close.
 */
public final class LeakWatch {
    private static final class State implements Runnable {
        private final String what;
        private volatile boolean closed;

        State(String what) {
            this.what = what;
        }

        @Override
        public void run() {
            if (!closed) {
                System.getLogger("dev.tenon")
                        .log(
                                System.Logger.Level.WARNING,
                                "{0} became unreachable without close(): its memory is not given back",
                                what);
            }
        }
    }

    private final State state;

    private LeakWatch(State state) {
        this.state = state;
    }

    public static LeakWatch over(Object owner, String what) {
        State state = new State(what);
        CleanerThread.register(owner, state);
        return new LeakWatch(state);
    }

    public void closed() {
        state.closed = true;
    }
}
