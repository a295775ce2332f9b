package dev.tenon.cpu.machine;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A chain of operations on floats in one loop, by machine code: values stay in registers from operand to result.
 * Thread-safe.
 *
 * @param lanes floats of a vector
 */
public record RegionKernel(Form form, CallableCode plain, CallableCode stream, int lanes) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    /** The most operands in memory, and numbers that stand for all elements. */
    public static final int MOST_ROWS = 3;

    public static final int MOST_SCALARS = 8;

    /** What an operation does with its operands a and b and its numbers p and q. */
    public enum Word {
        ADD,
        SUBTRACT,
        MULTIPLY,
        DIVIDE,
        NEGATE,
        MAGNITUDE,
        ROOT,
        RECIPROCAL,
        /** max(a, 0): 0 for -0. */
        NOT_NEGATIVE,
        /** a, or p a for a below zero; p is above 0 and at most 1. */
        LEAK,
        /** a within p and q, which are not zero but for p = 0 that makes 0 of -0. */
        BOUND,
        /** p a + q. */
        AFFINE,
        /** a. */
        COPY,
        /** a, rounded to f16, or to bf16. */
        ROUND_HALF,
        ROUND_BFLOAT,
        GELU,
        /** This and the following are there with vectors of 16 floats. */
        EXPONENTIAL,
        SIGMOID,
        /** a times its sigmoid. */
        GATE,
        TANGENT;

        boolean isWide() {
            return compareTo(EXPONENTIAL) >= 0;
        }
    }

    /** What lies in memory. Values in between are f32. */
    public enum Element {
        F32(4),
        F16(2),
        BF16(2);

        private final int bytes;

        Element(int bytes) {
            this.bytes = bytes;
        }

        /** Of an element. */
        public int bytes() {
            return bytes;
        }
    }

    /** An operation; values are numbered: rows, then scalars, then operations in their order. */
    public record Step(Word word, int a, int b, float p, float q) {}

    /** What is computed: the last step is the result. */
    public record Form(List<Element> operands, int scalars, List<Step> steps, Element result) {
        /** Of f32. */
        public static Form floats(int rows, int scalars, List<Step> steps) {
            return new Form(Collections.nCopies(rows, Element.F32), scalars, steps, Element.F32);
        }

        /** Operands in memory. */
        public int rows() {
            return operands.size();
        }

        boolean hasShorts() {
            return result != Element.F32 || !operands.stream().allMatch(Element.F32::equals);
        }
    }

    /**
     * With vectors of that many floats; null for more values at once than there are registers, and for words that have
     * no code of that width.
     *
     * @throws IllegalStateException if it cannot run here; the message is the reason
     */
    public static @Nullable RegionKernel make(int lanes, Form form) {
        CallableCode.require(lanes);
        byte[] plain = new RegionCode(lanes, form, false).region();
        if (plain == null) {
            return null;
        }
        byte[] stream = new RegionCode(lanes, form, true).region();
        return new RegionKernel(form, CallableCode.of(plain), CallableCode.of(Objects.requireNonNull(stream)), lanes);
    }

    /**
     * Computes rows of n elements.
     *
     * @param operands as many as the form has rows; a step of 0 repeats a row
     * @param scalars as many as the form has
     * @param past whether results go past the caches, where they are aligned
     * @param arguments {@link CallableCode#ARGUMENT_BYTES} of memory that no other thread uses
     * @throws IndexOutOfBoundsException if rows do not lie within their memory
     */
    public void run(
            long rows, int n, Matrix[] operands, float[] scalars, Matrix y, boolean past, MemorySegment arguments) {
        if (rows <= 0 || n <= 0) {
            return;
        }
        long bytes = (long) form.result.bytes * n;
        y.checkWritable(rows, bytes);
        arguments.set(LONG, RowCode.Y, y.offset());
        arguments.set(LONG, RegionCode.STEPS, y.stride());
        for (int i = 0; i < form.rows(); i++) {
            operands[i].check(rows, (long) form.operands.get(i).bytes * n);
            arguments.set(LONG, RegionCode.PLACES[i], operands[i].offset());
            arguments.set(LONG, RegionCode.STEPS + 8L * (1 + i), operands[i].stride());
        }
        for (int i = 0; i < form.scalars; i++) {
            arguments.set(FLOAT, RegionCode.SCALAR_AT + 4L * i, scalars[i]);
        }
        arguments.set(LONG, RowCode.N, n);
        arguments.set(LONG, RegionCode.ROWS, rows);
        if (n % lanes != 0) {
            VectorCode.writeMasks(lanes, arguments, RowCode.MASKS, n % lanes);
        }
        CallableCode kernel = past && y.isWholeVectors(bytes, (long) form.result.bytes * lanes) ? stream : plain;
        kernel.call(arguments, memory(operands, 0), y.memory(), memory(operands, 1), memory(operands, 2));
    }

    private MemorySegment memory(Matrix[] operands, int which) {
        return which < form.rows() ? operands[which].memory() : MemorySegment.NULL;
    }
}
