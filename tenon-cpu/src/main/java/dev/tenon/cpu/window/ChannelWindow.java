package dev.tenon.cpu.window;

import java.lang.foreign.MemorySegment;

/**
 * The cells of windows in f32 memory whose channels lie side by side, where they are for the first of neighbouring
 * positions. Distances are in bytes.
 *
 * @param at the first channel of the first cell
 * @param lines of cells
 * @param lineStep from a line to the next
 * @param cells of a line
 * @param cellStep from a cell to the next
 * @param step from a position to the next
 */
public record ChannelWindow(
        MemorySegment memory, long at, int lines, long lineStep, int cells, long cellStep, long step) {}
