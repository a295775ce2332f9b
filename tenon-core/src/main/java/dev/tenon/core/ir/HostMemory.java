package dev.tenon.core.ir;

import dev.tenon.core.lazy.CleanerThread;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Allocates memory outside the heap that lives as long as it is reachable, and keeps what is no longer reachable from
 * piling up.
 *
 * <p>The garbage collector frees such memory, but runs by the needs of the heap alone: a program that drops large
 * outputs makes few objects, so that gigabytes may wait for a collection. Once the memory handed out exceeds a
 * threshold, an allocation therefore asks for a collection ({@link System#gc}) first. The threshold is an eighth of the
 * largest heap, at least 64 MiB, and at least twice of what the last such collection left, so that live memory is not
 * collected for again and again. {@code -XX:+DisableExplicitGC} turns it off; the JVM's own limit is
 * {@code -XX:MaxDirectMemorySize}.
 *
 * <p>Thread-safe.
 */
public final class HostMemory {
    private static final long FLOOR = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 8);

    /** How long a collection's cleaners are waited for: they run on a thread of their own. */
    private static final int WAITS = 20;

    private static final long WAIT_NANOS = 1_000_000;

    private static final AtomicLong HELD = new AtomicLong();
    private static final ReentrantLock COLLECTING = new ReentrantLock();
    private static volatile long threshold = FLOOR;

    /** Of a test. */
    private static volatile @Nullable LongConsumer admission;

    private HostMemory() {}

    /** Subtracts what was handed out once it is unreachable. */
    private record Release(long bytes) implements Runnable {
        @Override
        public void run() {
            HELD.addAndGet(-bytes);
        }
    }

    /**
     * Allocates zeros that every thread may use and that are freed when no segment over them is reachable.
     *
     * @param bytes the size, 0 or more
     * @param alignment in bytes, a power of two
     * @throws OutOfMemoryError when the JVM or the system has no more memory
     */
    public static MemorySegment allocate(long bytes, long alignment) {
        LongConsumer asked = admission;
        if (asked != null) {
            asked.accept(bytes);
        }
        if (HELD.get() + bytes > threshold) {
            collect();
        }
        MemorySegment segment = Arena.ofAuto().allocate(bytes, alignment);
        // of the scope and not of the segment: slices keep the memory as well
        CleanerThread.register(segment.scope(), new Release(bytes));
        HELD.addAndGet(bytes);
        return segment;
    }

    /** For tests: asks this before each allocation, with its bytes, to refuse some; null for none. */
    static void admit(@Nullable LongConsumer next) {
        admission = next;
    }

    /** Returns the bytes that are handed out and not known to be unreachable. */
    public static long held() {
        return HELD.get();
    }

    private static void collect() {
        if (!COLLECTING.tryLock()) {
            return; // another thread is at it
        }
        try {
            long before = HELD.get();
            System.gc();
            long now = HELD.get();
            for (int i = 0; i < WAITS && (now == before || now > FLOOR); i++) {
                LockSupport.parkNanos(WAIT_NANOS);
                long later = HELD.get();
                if (later == now && later < before) {
                    break; // the cleaners have done what there was to do
                }
                now = later;
            }
            threshold = Math.max(FLOOR, 2 * HELD.get());
        } finally {
            COLLECTING.unlock();
        }
    }
}
