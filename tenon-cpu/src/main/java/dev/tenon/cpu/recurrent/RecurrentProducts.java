package dev.tenon.cpu.recurrent;

import dev.tenon.cpu.step.CpuFrame;

/** The two matrix products of a recurrent layer. Immutable. */
interface RecurrentProducts {
    /**
     * Rows of x.
     *
     * @param first the element that the first row begins at
     * @param stride elements from a row to the next
     */
    record Rows(int count, long first, long stride) {}

    String tier();

    /** Bytes of workspace that it wants at {@link RecurrentUnit#own}, for one worker. */
    long workspaceBytes();

    /** Called by a worker before it starts on a unit. */
    void prepare(CpuFrame frame, RecurrentUnit unit);

    /**
     * to[rows, all gates] = bias + x[rows, features] W; {@code bias} and {@code to} are byte offsets in the unit's
     * memory, rows of the result {@code toStride} elements apart.
     */
    void project(CpuFrame frame, RecurrentUnit unit, Rows x, long bias, long to, long toStride);

    /**
     * to[sequences, gates of the part] = (or, if {@code add}, +=) states[sequences, hidden] R; {@code states} and
     * {@code to} are byte offsets in the unit's memory, rows of the result {@code toStride} elements apart.
     */
    void recur(
            CpuFrame frame,
            RecurrentUnit unit,
            RecurrentCell.Part part,
            long states,
            boolean add,
            long to,
            long toStride);
}
