package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Turns rows into panels of {@link ProductKernel} by machine code. Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record PanelKernel(CallableCode kernel, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /**
     * With vectors of that many floats.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static PanelKernel make(int lanes) {
        CallableCode.require(lanes);
        return new PanelKernel(CallableCode.of(PanelCode.of(lanes)), lanes);
    }

    /** Columns of a panel, and the rows that it takes. */
    public int columns() {
        return 2 * lanes;
    }

    /** Elements of a row that it takes: those up to the last multiple of four. */
    public static int taken(int k) {
        return k / PanelCode.GROUP * PanelCode.GROUP;
    }

    /**
     * Turns {@link #columns} rows, which do not overlap the panel.
     *
     * @param k elements of each, a multiple of four
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows or panel do not lie within their memory
     */
    public void run(int k, Matrix rows, Place panel, MemorySegment arguments) {
        if (k <= 0) {
            return;
        }
        if (k % PanelCode.GROUP != 0) {
            throw new IllegalArgumentException(k + " elements are not a multiple of four");
        }
        rows.check(columns(), 4L * k);
        panel.checkWritable(4L * k * columns());
        arguments.set(LONG, PanelCode.FROM, rows.offset());
        arguments.set(LONG, PanelCode.FROM_STEP, rows.stride());
        arguments.set(LONG, PanelCode.TO, panel.offset());
        arguments.set(LONG, PanelCode.K, k);
        kernel.call(arguments, rows.memory(), panel.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }
}
