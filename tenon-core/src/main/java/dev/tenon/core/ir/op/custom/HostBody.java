package dev.tenon.core.ir.op.custom;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Runs a custom operation on the CPU.
 *
 * @param units pieces of the work that do not depend on each other; 1 where it runs whole, 0 for no work
 * @param unitCost about how many reads, multiplies and adds a unit takes: it decides how many threads share the work
 * @param loop does the work
 */
public record HostBody(long units, long unitCost, Loop loop) {
    /** Works out units. Called by several threads at once, for different units. */
    @FunctionalInterface
    public interface Loop {
        /**
         * Works out the units [from, to).
         *
         * @param inputs the elements of each input, exactly its bytes; valid during the call
         * @param results the memory of each result, all of which is written; its bytes mean nothing before
         * @throws dev.tenon.core.error.DataException for values without a result
         */
        void run(List<MemorySegment> inputs, List<MemorySegment> results, long from, long to);
    }
}
