package dev.tenon.cpu.loops;

import java.lang.foreign.MemorySegment;

/**
 * The f32 that windows read: lines of taps, where they lie for the first of neighbouring positions.
 *
 * @param offset of the first tap, in bytes
 * @param step from a line to the next, in bytes
 * @param count taps of a line
 * @param dilation from a tap to the next, in elements
 * @param stride from a position to the next, in elements
 */
public record Taps(MemorySegment memory, long offset, int lines, long step, int count, int dilation, int stride) {
    /** The taps of the positions from {@code position} on. */
    Taps from(int position) {
        return new Taps(memory, offset + 4L * position * stride, lines, step, count, dilation, stride);
    }
}
