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
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

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
        return new PanelKernel(CallableCode.of(Code.of(lanes)), lanes);
    }

    /** Columns of a panel, and the rows that it takes. */
    public int columns() {
        return 2 * lanes;
    }

    /** Elements of a row that it takes: those up to the last multiple of four. */
    public static int taken(int k) {
        return k / Code.GROUP * Code.GROUP;
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
        if (k % Code.GROUP != 0) {
            throw new IllegalArgumentException(k + " elements are not a multiple of four");
        }
        rows.check(columns(), 4L * k);
        panel.checkWritable(4L * k * columns());
        arguments.set(LONG, Code.FROM, rows.offset());
        arguments.set(LONG, Code.FROM_STEP, rows.stride());
        arguments.set(LONG, Code.TO, panel.offset());
        arguments.set(LONG, Code.K, k);
        kernel.call(arguments, rows.memory(), panel.memory(), MemorySegment.NULL, MemorySegment.NULL);
    }

    /**
     * The code that turns rows, as many as a panel has columns, into a panel: element i of row j becomes element j of
     * the panel's row i. Four elements of each row at a time: a vector takes them from every fourth row, and four such
     * vectors are turned quarter by quarter. Called as {@link ProductCode} is; the last two pointers are not used.
     */
    private static final class Code {
        // byte offsets of the arguments, longs

        /** Added to the pointer, as TO is. */
        static final int FROM = 0;

        static final int FROM_STEP = 8;
        static final int TO = 16;
        /** Elements of a row, a multiple of {@link #GROUP}. */
        static final int K = 24;

        static final int GROUP = 4;

        /** Each points to a row of a quarter: the first of four. */
        private static final int[] QUARTERS = {R8, R9, R10, R11};

        private final VectorAssembler code = new VectorAssembler();
        private final VectorCode vectors;

        private Code(int lanes) {
            this.vectors = VectorCode.of(lanes, code);
        }

        static byte[] of(int lanes) {
            return new Code(lanes).make();
        }

        private static Memory argument(int offset) {
            return Memory.at(RDI, offset);
        }

        private byte[] make() {
            code.entry();
            code.add(RSI, argument(FROM));
            code.add(RDX, argument(TO));
            code.load(RCX, argument(FROM_STEP));
            for (int half = 0; half < 2; half++) {
                half(half);
            }
            code.zeroUpper();
            code.ret();
            return code.bytes();
        }

        /** The columns of one of a panel's two vectors; leaves RSI at the rows after them, RDX and RCX as they are. */
        private void half(int half) {
            int quarters = vectors.bytes() / 16;
            for (int quarter = 0; quarter < quarters; quarter++) {
                code.move(QUARTERS[quarter], RSI);
                code.multiply(RAX, RCX, 4);
                code.add(RSI, RAX);
            }
            code.push(RDX);
            code.push(RSI);
            code.move(RSI, RCX); // three steps
            code.add(RSI, RCX);
            code.add(RSI, RCX);
            code.load(RAX, argument(K));
            Label top = new Label();
            code.place(top);
            for (int row = 0; row < GROUP; row++) {
                List<Memory> places = new ArrayList<>();
                for (int quarter = 0; quarter < quarters; quarter++) {
                    places.add(row(QUARTERS[quarter], row));
                }
                vectors.loadQuarters(row, places);
            }
            vectors.interleave(false, 4, 0, 1);
            vectors.interleave(true, 5, 0, 1);
            vectors.interleave(false, 6, 2, 3);
            vectors.interleave(true, 7, 2, 3);
            for (int i = 0; i < GROUP; i++) {
                vectors.shuffle(i, 4 + i / 2, 6 + i / 2, i % 2 == 0 ? 0x44 : 0xEE);
                vectors.store(Memory.at(RDX, (2 * i + half) * vectors.bytes()), i);
            }
            code.addConstant(RDX, 2 * GROUP * vectors.bytes());
            for (int quarter = 0; quarter < quarters; quarter++) {
                code.addConstant(QUARTERS[quarter], 4 * GROUP);
            }
            code.subtractConstant(RAX, GROUP);
            code.jump(Assembler.NOT_EQUAL, top);
            code.pop(RSI);
            code.pop(RDX);
        }

        private static Memory row(int base, int row) {
            return switch (row) {
                case 0 -> Memory.at(base, 0);
                case 1 -> new Memory(base, RCX, 1, 0);
                case 2 -> new Memory(base, RCX, 2, 0);
                default -> new Memory(base, RSI, 1, 0);
            };
        }
    }
}
