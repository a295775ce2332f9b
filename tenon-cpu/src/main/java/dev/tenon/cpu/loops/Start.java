package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;

/**
 * What the sums of a product begin at.
 *
 * @param bias for {@link Kind#BIAS}: a row of one f32 for each column; otherwise not read
 */
public record Start(Kind kind, Matrix bias) {
    /** Each sum begins at zero, at what the result holds, or at the bias of its column. */
    public enum Kind {
        ZERO,
        RESULT,
        BIAS
    }

    public static final Start ZERO = new Start(Kind.ZERO, Matrix.NONE);

    /** C += A B: fill C with what is to be added first. */
    public static final Start RESULT = new Start(Kind.RESULT, Matrix.NONE);

    /** Starts at a bias for each column, the first one's at {@code offset}, in bytes. */
    public static Start bias(MemorySegment memory, long offset) {
        return new Start(Kind.BIAS, new Matrix(memory, offset, 0));
    }

    /** The start of the columns from {@code column} on. */
    Start from(int column) {
        return kind == Kind.BIAS ? new Start(kind, bias.plus(4L * column)) : this;
    }
}
