package dev.tenon.core.tensor;

import dev.tenon.core.lazy.CleanerThread;
import java.util.function.Supplier;

/**
 * Says so, once, when something that holds memory became unreachable without being closed. It reports; it does not
 * close.
 */
public final class LeakWatch {
    private static final class State implements Runnable {
        private final Supplier<String> what;
        private volatile boolean closed;

        State(Supplier<String> what) {
            this.what = what;
        }

        @Override
        public void run() {
            if (!closed) {
                System.getLogger("dev.tenon")
                        .log(
                                System.Logger.Level.WARNING,
                                "{0} became unreachable without close(): its memory is not given back",
                                what.get());
            }
        }
    }

    private final State state;

    private LeakWatch(State state) {
        this.state = state;
    }

    public static LeakWatch over(Object owner, String what) {
        return over(owner, () -> what);
    }

    /** @param what names the owner and does not refer to it */
    public static LeakWatch over(Object owner, Supplier<String> what) {
        State state = new State(what);
        CleanerThread.register(owner, state);
        return new LeakWatch(state);
    }

    public void closed() {
        state.closed = true;
    }
}
