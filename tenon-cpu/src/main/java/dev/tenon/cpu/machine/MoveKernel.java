package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Moves rows of bytes by machine code. Thread-safe. */
public record MoveKernel(CallableCode kernel) {
    private static final long VECTOR = 32;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /** @throws IllegalStateException if it cannot run here; the message is the reason */
    public static MoveKernel make() {
        CallableCode.require(8);
        return new MoveKernel(CallableCode.of(MoveCode.make()));
    }

    /**
     * Copies rows that do not overlap.
     *
     * @param bytes of a row, a multiple of four
     * @param stream whether they go past the caches, where they are whole vectors and aligned where they go
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void run(long rows, long bytes, Matrix from, Matrix to, boolean stream, MemorySegment arguments) {
        if (rows <= 0 || bytes <= 0) {
            return;
        }
        if (bytes % 4 != 0) {
            throw new IllegalArgumentException(bytes + " bytes are not a multiple of four");
        }
        from.check(rows, bytes);
        to.checkWritable(rows, bytes);
        arguments.set(LONG, MoveCode.ROWS, rows);
        arguments.set(LONG, MoveCode.ROW_BYTES, bytes);
        arguments.set(LONG, MoveCode.FROM, from.offset());
        arguments.set(LONG, MoveCode.FROM_STEP, from.stride());
        arguments.set(LONG, MoveCode.TO, to.offset());
        arguments.set(LONG, MoveCode.TO_STEP, to.stride());
        boolean past = stream && to.isWholeVectors(bytes, VECTOR);
        arguments.set(LONG, MoveCode.STREAM, past ? 1 : 0);
        kernel.call(arguments, from.memory(), to.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }
}
