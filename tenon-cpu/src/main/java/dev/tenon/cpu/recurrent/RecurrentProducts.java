package dev.tenon.cpu.recurrent;

import dev.tenon.cpu.step.CpuFrame;
import java.lang.foreign.MemorySegment;

/** The two matrix products of a recurrent layer. Immutable. */
interface RecurrentProducts {
    String tier();

    /** Bytes of workspace that it wants at {@code ownOffset}, for one worker. */
    long workspaceBytes();

    /** Called by a worker before it starts on a direction. */
    void prepare(CpuFrame frame, int direction, MemorySegment workspace, long own);

    /** to[rows, all gates] = bias + x[rows, features] W; rows of x and of the result may lie apart. */
    void project(
            CpuFrame frame,
            int direction,
            int rows,
            long xIndex,
            long xStride,
            MemorySegment workspace,
            long own,
            long bias,
            long to,
            long toStride);

    /** to[rows, gates of the part] = (or, if {@code add}, +=) states[rows, hidden] R. */
    void recur(
            CpuFrame frame,
            int direction,
            RecurrentCell.Part part,
            int rows,
            MemorySegment workspace,
            long own,
            long states,
            long statesStride,
            boolean add,
            long to,
            long toStride);
}
