package dev.tenon.cpu.recurrent;

import dev.tenon.cpu.step.Frame;
import java.lang.foreign.MemorySegment;

/** The two matrix products of a recurrent layer. Immutable. */
interface RecurrentProducts {
    String tier();

    /** Bytes of scratch that it wants at {@code ownOffset}, for one worker. */
    long scratchBytes();

    /** Called by a worker before it starts on a direction. */
    void prepare(Frame frame, int direction, MemorySegment scratch, long own);

    /** to[rows, all gates] = bias + x[rows, features] W; rows of x and of the result may lie apart. */
    void project(
            Frame frame,
            int direction,
            int rows,
            long xIndex,
            long xStride,
            MemorySegment scratch,
            long own,
            long bias,
            long to,
            long toStride);

    /** to[rows, gates of the part] = (or, if {@code add}, +=) states[rows, hidden] R. */
    void recur(
            Frame frame,
            int direction,
            RecurrentCell.Part part,
            int rows,
            MemorySegment scratch,
            long own,
            long states,
            long statesStride,
            boolean add,
            long to,
            long toStride);
}
