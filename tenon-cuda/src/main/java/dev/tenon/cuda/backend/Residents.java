package dev.tenon.cuda.backend;

import dev.tenon.core.error.OutOfMemoryException;
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

    private final ResultMemory memory;
    private final Set<GpuResident> all = ConcurrentHashMap.newKeySet();
    private final Queue<GpuResident> leaving = new ConcurrentLinkedQueue<>();

    Residents(ResultMemory memory) {
        this.memory = memory;
    }

    /** Memory for a tensor. When the device is full, it waits for tensors that are leaving. */
    DeviceMemory take(long bytes) {
        sweep();
        try {
            return memory.take(bytes);
        } catch (OutOfMemoryException e) {
            if (awaitLeaving()) {
                return memory.take(bytes);
            }
            throw e;
        }
    }

    /** Takes a tensor's memory back, which nothing enqueued needs any more. */
    void giveBack(DeviceMemory of) {
        memory.giveBack(of);
    }

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
    private void sweep() {
        leaving.removeIf(GpuResident::freeUnused);
    }

    /** Waits until work on tensors that are closed has ended, and frees them. @return whether there were any */
    private boolean awaitLeaving() {
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
        memory.close();
    }

    private static void await(GpuResident one) {
        while (!one.idle()) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
