package dev.tenon.cpu.machine;

import dev.tenon.core.ir.SizeMath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Which rows of x each result of {@link BlendKernel} is the sum of, and their weights. Immutable, thread-safe.
 *
 * <p>Made here alone, so that the farthest row is what the code will read.
 */
public final class BlendTaps {
    final MemorySegment memory;
    final int results;
    /** How many bytes the last row of x begins at; -1 without any tap. */
    final long last;

    /**
     * Copies taps.
     *
     * @param starts of each result, the first of its taps, and behind the last result their number
     * @param rows of each tap, the row of x
     * @param rowBytes from a row of x to the next
     */
    public BlendTaps(int[] starts, int[] rows, float[] weights, long rowBytes) {
        results = starts.length - 1;
        memory = Arena.ofAuto().allocate(8L * results + (long) BlendKernel.Code.TAP_BYTES * rows.length, 64);
        long at = 0;
        int farthest = -1;
        for (int result = 0; result < results; result++) {
            memory.set(ValueLayout.JAVA_LONG, at, starts[result + 1] - starts[result]);
            at += 8;
            for (int tap = starts[result]; tap < starts[result + 1]; tap++) {
                farthest = Math.max(farthest, rows[tap]);
                memory.set(ValueLayout.JAVA_LONG, at, SizeMath.product("taps", rows[tap], rowBytes));
                memory.set(ValueLayout.JAVA_FLOAT, at + BlendKernel.Code.WEIGHT, weights[tap]);
                at += BlendKernel.Code.TAP_BYTES;
            }
        }
        last = farthest < 0 ? -1 : SizeMath.product("taps", farthest, rowBytes);
    }
}
