package dev.tenon.cuda.schedule;

import java.util.List;

/**
 * What a step does to memory, and what it costs. Immutable.
 *
 * @param cost predicted microseconds on the device, 0 or more
 * @param reads what it reads of memory that some step writes
 * @param writes what it writes
 */
public record StepUse(double cost, List<Span> reads, List<Span> writes) {
    public StepUse {
        reads = List.copyOf(reads);
        writes = List.copyOf(writes);
    }

    /**
     * Bytes of one memory.
     *
     * @param memory the number of the memory
     * @param from the first byte
     * @param end the byte behind the last; a span without bytes meets no other
     */
    public record Span(int memory, long from, long end) {
        boolean meets(Span other) {
            return memory == other.memory && Math.max(from, other.from) < Math.min(end, other.end);
        }

        boolean covers(Span other) {
            return memory == other.memory && from <= other.from && end >= other.end;
        }
    }
}
