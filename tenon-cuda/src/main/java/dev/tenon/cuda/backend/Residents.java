package dev.tenon.cuda.backend;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The tensors in a device's memory, and among them those that are closed while something works on them: they are
 * freed when the next tensor is made. Thread-safe.
 */
final class Residents {
    private static final long PAUSE_NANOS = 50_000;

    private final Set<GpuResident> all = ConcurrentHashMap.newKeySet();
    private final Queue<GpuResident> leaving = new ConcurrentLinkedQueue<>();

    void add(GpuResident one) {
        all.add(one);
    }

    void remove(GpuResident one) {
        all.remove(one);
    }

    void leaves(GpuResident one) {
        leaving.add(one);
    }

    /** Frees what nothing works on any more. */
    void sweep() {
        leaving.removeIf(GpuResident::freeUnused);
    }

    /** Waits until work on tensors that are closed has ended, and frees them. @return whether there were any */
    boolean awaitLeaving() {
        List<GpuResident> now = List.copyOf(leaving);
        now.forEach(Residents::await);
        sweep();
        return !now.isEmpty();
    }

    /**
     * Closes all, once nothing works on them. Work that does not end is ended by the group that it belongs to, after
     * its timeout.
     */
    void close() {
        List<GpuResident> open = List.copyOf(all);
        open.forEach(GpuResident::close); // from now on nobody begins anything
        open.forEach(Residents::await);
        sweep();
    }

    private static void await(GpuResident one) {
        while (!one.idle()) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
