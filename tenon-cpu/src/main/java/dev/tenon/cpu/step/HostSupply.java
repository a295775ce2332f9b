package dev.tenon.cpu.step;

import dev.tenon.cpu.machine.Pages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where the backend gets memory outside the heap and threads from: the JVM. A test puts one in its place that fails.
 * Thread-safe.
 */
public interface HostSupply {
    /** What the JVM gives; large memory of huge pages. */
    HostSupply JVM = new HostSupply() {
        @Override
        public MemorySegment allocate(Arena arena, long bytes, long alignment) {
            if (bytes < Pages.BYTES) {
                return arena.allocate(bytes, alignment);
            }
            MemorySegment large = arena.allocate(bytes, Math.max(alignment, Pages.BYTES));
            Pages.back(large);
            return large;
        }

        @Override
        public void start(Thread thread) {
            thread.start();
        }
    };

    /** Zeros of the arena. @throws OutOfMemoryError when there are no more */
    MemorySegment allocate(Arena arena, long bytes, long alignment);

    /** Starts a thread. @throws OutOfMemoryError when there are no more */
    void start(Thread thread);
}
