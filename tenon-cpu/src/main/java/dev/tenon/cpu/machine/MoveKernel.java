package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.R9;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Moves rows of bytes by machine code. Thread-safe. */
public record MoveKernel(CallableCode kernel) {
    private static final long VECTOR = 32;
    private static final long LONG_ROW = 256;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /** @throws IllegalStateException if it cannot run here; the message is the reason */
    public static MoveKernel make() {
        CallableCode.require(8);
        return new MoveKernel(CallableCode.of(Code.make()));
    }

    /**
     * Copies rows that do not overlap.
     *
     * @param bytes of a row, a multiple of four
     * @param stream whether they go past the caches: as they are where they are whole vectors and aligned where they
     *     go, but for their ends where they are long
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
        arguments.set(LONG, Code.ROWS, rows);
        arguments.set(LONG, Code.ROW_BYTES, bytes);
        arguments.set(LONG, Code.FROM, from.offset());
        arguments.set(LONG, Code.FROM_STEP, from.stride());
        arguments.set(LONG, Code.TO, to.offset());
        arguments.set(LONG, Code.TO_STEP, to.stride());
        boolean past = stream && to.isWholeVectors(bytes, VECTOR);
        boolean words = (to.memory().address() + to.offset()) % 4 == 0 && to.stride() % 4 == 0;
        boolean isLong = bytes >= LONG_ROW && words;
        arguments.set(LONG, Code.STREAM, past ? 1 : stream && isLong ? Code.MIDDLE : 0);
        kernel.call(arguments, from.memory(), to.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }

    /**
     * The code that moves rows of bytes, a multiple of four, to other places: 32 bytes at a time, then four. Called as
     * {@link ProductCode} is; the last two pointers are not used.
     */
    private static final class Code {
        // byte offsets of the arguments, longs; counts are at least 1
        static final int ROWS = 0;
        static final int ROW_BYTES = 8;
        /** Added to the pointer, as TO is. */
        static final int FROM = 16;

        static final int FROM_STEP = 24;
        static final int TO = 32;
        static final int TO_STEP = 40;

        /** Whether rows go past the caches: they are whole vectors, aligned where they go. */
        static final int STREAM = 48;

        /** Of the same: all of a row but its ends, which are part of a line. */
        static final int MIDDLE = 2;

        private static final int LINE = 64;
        private static final int VECTOR = 32;
        private static final int WORD = 4;

        private Code() {}

        static byte[] make() {
            VectorAssembler code = new VectorAssembler();
            code.entry();
            code.add(RSI, argument(FROM));
            code.add(RDX, argument(TO));
            code.load(RCX, argument(ROWS));
            code.load(R8, argument(FROM_STEP));
            code.load(R9, argument(TO_STEP));
            Label stream = new Label();
            code.load(RAX, argument(STREAM));
            code.compareConstant(RAX, 1);
            code.jump(Assembler.EQUAL, stream);
            Label middle = new Label();
            code.compareConstant(RAX, MIDDLE);
            code.jump(Assembler.EQUAL, middle);
            plain(code);
            code.zeroUpper();
            code.ret();
            code.place(stream);
            stream(code);
            code.storeFence();
            code.zeroUpper();
            code.ret();
            code.place(middle);
            middle(code);
            code.storeFence();
            code.zeroUpper();
            code.ret();
            return code.bytes();
        }

        private static void plain(VectorAssembler code) {
            Label row = new Label();
            Label words = new Label();
            Label word = new Label();
            Label vector = new Label();
            Label next = new Label();
            code.place(row);
            code.move(R10, RSI);
            code.move(R11, RDX);
            code.load(RAX, argument(ROW_BYTES));
            code.subtractConstant(RAX, VECTOR);
            code.jump(Assembler.LESS, words);
            code.place(vector);
            code.load256(0, Memory.at(R10, 0));
            code.store256(Memory.at(R11, 0), 0);
            code.addConstant(R10, VECTOR);
            code.addConstant(R11, VECTOR);
            code.subtractConstant(RAX, VECTOR);
            code.jump(Assembler.NOT_LESS, vector);
            // less than a vector is left: the last vector of the row overlaps the one before; RAX is below zero
            code.compareConstant(RAX, -VECTOR);
            code.jump(Assembler.EQUAL, next);
            code.load256(0, new Memory(R10, RAX, 1, 0));
            code.store256(new Memory(R11, RAX, 1, 0), 0);
            code.jump(next);
            code.place(words);
            code.addConstant(RAX, VECTOR);
            code.place(word);
            code.loadFloat(0, Memory.at(R10, 0));
            code.storeFloat(Memory.at(R11, 0), 0);
            code.addConstant(R10, WORD);
            code.addConstant(R11, WORD);
            code.subtractConstant(RAX, WORD);
            code.jump(Assembler.NOT_EQUAL, word);
            code.place(next);
            nextRow(code, row);
        }

        private static void stream(VectorAssembler code) {
            Label row = new Label();
            Label vector = new Label();
            code.place(row);
            code.xor(R10, R10);
            code.load(RAX, argument(ROW_BYTES));
            code.place(vector);
            code.load256(0, new Memory(RSI, R10, 1, 0));
            code.storeStream256(new Memory(RDX, R10, 1, 0), 0);
            code.addConstant(R10, VECTOR);
            code.subtractConstant(RAX, VECTOR);
            code.jump(Assembler.NOT_EQUAL, vector);
            nextRow(code, row);
        }

        private static void middle(VectorAssembler code) {
            Label row = new Label();
            Label head = new Label();
            Label whole = new Label();
            Label line = new Label();
            Label tail = new Label();
            Label next = new Label();
            code.place(row);
            code.xor(R10, R10);
            code.load(RAX, argument(ROW_BYTES));
            code.move(R11, RDX);
            code.andConstant(R11, LINE - 1);
            code.jump(Assembler.EQUAL, whole);
            code.place(head);
            word(code);
            code.addConstant(R11, WORD);
            code.compareConstant(R11, LINE);
            code.jump(Assembler.NOT_EQUAL, head);
            code.place(whole);
            code.subtractConstant(RAX, LINE);
            code.place(line);
            for (int at = 0; at < LINE; at += VECTOR) {
                code.load256(0, new Memory(RSI, R10, 1, at));
                code.storeStream256(new Memory(RDX, R10, 1, at), 0);
            }
            code.addConstant(R10, LINE);
            code.subtractConstant(RAX, LINE);
            code.jump(Assembler.NOT_LESS, line);
            code.addConstant(RAX, LINE);
            code.jump(Assembler.EQUAL, next);
            code.place(tail);
            word(code);
            code.test(RAX);
            code.jump(Assembler.NOT_EQUAL, tail);
            code.place(next);
            nextRow(code, row);
        }

        /** Of RAX bytes that are left, at R10. */
        private static void word(VectorAssembler code) {
            code.loadFloat(0, new Memory(RSI, R10, 1, 0));
            code.storeFloat(new Memory(RDX, R10, 1, 0), 0);
            code.addConstant(R10, WORD);
            code.subtractConstant(RAX, WORD);
        }

        private static void nextRow(VectorAssembler code, Label row) {
            code.add(RSI, R8);
            code.add(RDX, R9);
            code.subtractConstant(RCX, 1);
            code.jump(Assembler.NOT_EQUAL, row);
        }

        private static Memory argument(int offset) {
            return Memory.at(RDI, offset);
        }
    }
}
