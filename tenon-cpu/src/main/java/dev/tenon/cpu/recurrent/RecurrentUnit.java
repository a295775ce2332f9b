package dev.tenon.cpu.recurrent;

import java.lang.foreign.MemorySegment;

/**
 * Where the work of one direction of a block of sequences lies in a worker's workspace, by byte offset.
 *
 * @param first the first sequence, {@code count} of them
 * @param states the hidden states, rows of {@code hidden} elements
 * @param cells the cells' own states, likewise
 * @param work what the cell asked for, rows of {@link RecurrentCell#workElements}
 * @param own workspace of the {@link RecurrentProducts}
 */
record RecurrentUnit(
        int direction, int first, int count, MemorySegment memory, long states, long cells, long work, long own) {}
