package dev.tenon.cuda.collective;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A communicator that NCCL holds for this process, from the first call that makes it until NCCL has let go of it, and
 * what is being done about it. Thread-safe.
 */
final class Held {
    private static final Set<Held> ALL = ConcurrentHashMap.newKeySet();

    private static volatile boolean aborted;

    private final String what;
    private volatile String state;

    private Held(String what, String state) {
        this.what = what;
        this.state = state;
    }

    /** @param what which rank of which group */
    static Held add(String what, String state) {
        Held held = new Held(what, state);
        ALL.add(held);
        return held;
    }

    void now(String next) {
        state = next;
    }

    void gone() {
        ALL.remove(this);
    }

    /** From now on the process counts as one in which NCCL has ended a group by force. */
    static void abortBegins() {
        aborted = true;
    }

    /** Whether NCCL has ever ended a group by force in this process. */
    static boolean abortedAny() {
        return aborted;
    }

    /** Each communicator with its state, in words; empty when NCCL holds none. */
    static List<String> all() {
        return ALL.stream().map(Held::toString).sorted().toList();
    }

    @Override
    public String toString() {
        return what + ": " + state;
    }
}
