package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R8;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RCX;
import static dev.tenon.cpu.machine.Assembler.RDI;
import static dev.tenon.cpu.machine.Assembler.RDX;
import static dev.tenon.cpu.machine.Assembler.RSI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import java.util.HashMap;
import java.util.Map;

/**
 * Code that walks a row of floats, whole vectors and then the lanes that are left: y = f(x), or sums over x, or both.
 * Called as {@link ProductCode} is, with x, y, and up to two rows of parameters.
 *
 * <p>Vectors: 0 is x and then y; 1 to 7 are the function's own; 8 and 9 hold sums; 10 and 11 what the function keeps
 * over the row.
 */
abstract class RowCode {
    // byte offsets of the arguments: longs, of which the first four are added to the pointers
    static final int X = 0;

    static final int Y = 8;
    static final int SCALE = 16;
    static final int BIAS = 24;
    /** Floats of a row, at least 1. */
    static final int N = 32;

    /** Up to three floats. */
    static final int SCALARS = 40;

    /** Which parameters there are: 0 none, 1 scale, 2 scale and bias. */
    static final int PARAMETERS = 56;

    /** As {@link VectorCode#masks} wants them; then two vectors of sums. */
    static final int MASKS = 64;

    static final int SUMS = MASKS + 64;
    static final int ARGUMENT_BYTES = SUMS + 128;

    /** Registers that code of rows has for constants, where there are 32; one between is for those without. */
    private static final int FIRST_KEPT = 12;

    private static final int LAST_KEPT = 31;

    private static final int[] POINTERS = {RSI, RDX, RCX, R8};

    final VectorAssembler code = new VectorAssembler();
    final VectorCode vectors;

    private final Map<Float, Integer> kept = new HashMap<>();
    private final boolean writes;
    private final boolean stream;
    private final boolean sums;

    /**
     * @param writes whether there is a y
     * @param sums whether vectors 8 and 9 are sums
     */
    RowCode(int lanes, boolean writes, boolean sums) {
        this(lanes, writes, false, sums);
    }

    /** @param stream whether y, which is aligned then, goes past the caches */
    RowCode(int lanes, boolean writes, boolean stream, boolean sums) {
        this.vectors = VectorCode.of(lanes, code);
        this.writes = writes;
        this.stream = stream;
        this.sums = sums;
    }

    /** Fills the vectors that are kept over the row. */
    abstract void begin();

    /** From x in vector 0 to y there; {@code narrow} at the lanes that are left. */
    abstract void vector(boolean narrow);

    static Memory argument(int offset) {
        return Memory.at(RDI, offset);
    }

    byte[] make() {
        int lanes = vectors.bytes() / 4;
        Label top = new Label();
        Label rest = new Label();
        Label done = new Label();
        code.entry();
        for (int i = 0; i < POINTERS.length; i++) {
            code.add(POINTERS[i], argument(X + 8 * i));
        }
        if (sums) {
            vectors.zero(8);
            vectors.zero(9);
        }
        begin();
        code.load(RAX, argument(N));
        code.subtractConstant(RAX, lanes);
        code.jump(Assembler.LESS, rest);
        code.place(top);
        vectors.load(0, Memory.at(RSI, 0));
        vector(false);
        if (writes && stream) {
            vectors.storeStream(Memory.at(RDX, 0), 0);
        } else if (writes) {
            vectors.store(Memory.at(RDX, 0), 0);
        }
        for (int pointer : POINTERS) {
            code.addConstant(pointer, vectors.bytes());
        }
        code.subtractConstant(RAX, lanes);
        code.jump(Assembler.NOT_LESS, top);
        code.place(rest);
        code.addConstant(RAX, lanes);
        code.jump(Assembler.EQUAL, done);
        vectors.masks(argument(MASKS));
        vectors.loadNarrow(0, 0, Memory.at(RSI, 0));
        vector(true);
        if (writes) {
            vectors.storeNarrow(Memory.at(RDX, 0), 0, 0);
        }
        code.place(done);
        if (sums) {
            vectors.store(argument(SUMS), 8);
            vectors.store(argument(SUMS + 64), 9);
        }
        if (stream) {
            code.storeFence();
        }
        code.zeroUpper();
        code.ret();
        return code.bytes();
    }

    // what functions say

    final void operate(Arithmetic op, int to, int a, int b) {
        vectors.arithmetic(op, to, a, b);
    }

    /**
     * Keeps constants in registers over all rows, as many as there are registers: with 16 there are none. A load of
     * each for every vector would take the room that vectors in flight need.
     */
    final void keep(float... values) {
        for (float value : values) {
            int register = FIRST_KEPT + kept.size();
            register += register >= vectors.a(0) ? 1 : 0;
            if (vectors.wide() != null && register <= LAST_KEPT && !kept.containsKey(value)) {
                vectors.constant(register, value);
                kept.put(value, register);
            }
        }
    }

    /** The register that has a constant now. */
    private int constant(float value) {
        Integer register = kept.get(value);
        if (register != null) {
            return register;
        }
        vectors.constant(vectors.a(0), value);
        return vectors.a(0);
    }

    /** to = value. */
    final void set(int to, float value) {
        Integer register = kept.get(value);
        if (register != null) {
            vectors.move(to, register);
        } else {
            vectors.constant(to, value);
        }
    }

    /** to = a op value. */
    final void operate(Arithmetic op, int to, int a, float value) {
        vectors.arithmetic(op, to, a, constant(value));
    }

    /** to = b, or the value if b is less; NaN where b is. */
    final void atLeast(int to, int b, float value) {
        vectors.arithmetic(Arithmetic.MAXIMUM, to, constant(value), b);
    }

    /** to = b, or the value if b is greater; NaN where b is. */
    final void atMost(int to, int b, float value) {
        vectors.arithmetic(Arithmetic.MINIMUM, to, constant(value), b);
    }

    /** to = to a + value. */
    final void horner(int to, int a, float value) {
        vectors.multiplyThenAdd(to, a, constant(value));
    }

    /** to += a value. */
    final void add(int to, int a, float value) {
        vectors.multiplyAdd(to, a, constant(value));
    }

    /** Sums of x - shift, and of its squares. */
    static final class Moments extends RowCode {
        Moments(int lanes) {
            super(lanes, false, true);
        }

        @Override
        void begin() {
            vectors.broadcast(10, argument(SCALARS));
        }

        @Override
        void vector(boolean narrow) {
            operate(Arithmetic.SUBTRACT, 0, 0, 10);
            if (narrow) {
                vectors.keepNarrow(0);
            }
            operate(Arithmetic.ADD, 8, 8, 0);
            vectors.multiplyAdd(9, 0, 0);
        }
    }

    /** y = ((x - mean) factor + addend) scale + bias, where there are a scale and a bias. */
    static final class Normalise extends RowCode {
        /** @param stream whether y goes past the caches */
        Normalise(int lanes, boolean stream) {
            super(lanes, true, stream, false);
        }

        @Override
        void begin() {
            vectors.broadcast(10, argument(SCALARS));
            vectors.broadcast(11, argument(SCALARS + 4));
            vectors.broadcast(7, argument(SCALARS + 8));
        }

        @Override
        void vector(boolean narrow) {
            operate(Arithmetic.SUBTRACT, 0, 0, 10);
            vectors.multiplyThenAdd(0, 11, 7);
            Label done = new Label();
            code.load(Assembler.R9, argument(PARAMETERS));
            code.test(Assembler.R9);
            code.jump(Assembler.EQUAL, done);
            load(1, Memory.at(Assembler.RCX, 0), narrow);
            operate(Arithmetic.MULTIPLY, 0, 0, 1);
            code.compareConstant(Assembler.R9, 1);
            code.jump(Assembler.EQUAL, done);
            load(1, Memory.at(Assembler.R8, 0), narrow);
            operate(Arithmetic.ADD, 0, 0, 1);
            code.place(done);
        }

        private void load(int to, Memory from, boolean narrow) {
            if (narrow) {
                vectors.loadNarrow(to, 0, from);
            } else {
                vectors.load(to, from);
            }
        }
    }
}
