package dev.tenon.cuda.lower.step;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Cuts workspace memory into stretches on 256-byte boundaries while a step is made; what was given back serves again
 * for the same size.
 */
public final class Workspace {
    private static final long BOUNDARY = 256;

    private final Map<Long, Deque<Long>> free = new HashMap<>();
    private long bytes;

    /** The offset of a stretch. */
    public long take(long size) {
        long whole = Math.ceilDiv(size, BOUNDARY) * BOUNDARY;
        Deque<Long> same = free.get(whole);
        if (same != null && !same.isEmpty()) {
            return same.pop();
        }
        long at = bytes;
        bytes += whole;
        return at;
    }

    public void release(long offset, long size) {
        free.computeIfAbsent(Math.ceilDiv(size, BOUNDARY) * BOUNDARY, _ -> new ArrayDeque<>())
                .push(offset);
    }

    public long bytes() {
        return bytes;
    }
}
