package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;

/**
 * Walks over one row of floats, whole vectors and then the lanes that are left, in code that has many rows and several
 * walks over each. {@link #COUNT} and {@link #OFFSET} are its registers; the arguments are those of {@link RowCode}.
 */
record RowWalk(VectorAssembler code, VectorCode vectors) {
    static final int OFFSET = Assembler.R9;
    private static final int COUNT = Assembler.R10;

    /** What a walk does with a vector of a row; {@code narrow} at the lanes that are left. */
    @FunctionalInterface
    interface Body {
        void run(boolean narrow);
    }

    void over(Body body) {
        int lanes = vectors.bytes() / 4;
        Label top = new Label();
        Label rest = new Label();
        Label done = new Label();
        code.xor(OFFSET, OFFSET);
        code.load(COUNT, RowCode.argument(RowCode.N));
        code.subtractConstant(COUNT, lanes);
        code.jump(Assembler.LESS, rest);
        code.place(top);
        body.run(false);
        code.addConstant(OFFSET, vectors.bytes());
        code.subtractConstant(COUNT, lanes);
        code.jump(Assembler.NOT_LESS, top);
        code.place(rest);
        code.addConstant(COUNT, lanes);
        code.jump(Assembler.EQUAL, done);
        vectors.masks(RowCode.argument(RowCode.MASKS));
        body.run(true);
        code.place(done);
    }

    /** Where the walk is in the row that a register points to. */
    static Memory at(int pointer) {
        return new Memory(pointer, OFFSET, 1, 0);
    }

    void load(int to, int pointer, boolean narrow) {
        if (narrow) {
            vectors.loadNarrow(to, 0, at(pointer));
        } else {
            vectors.load(to, at(pointer));
        }
    }

    void store(int pointer, int from, boolean narrow) {
        if (narrow) {
            vectors.storeNarrow(at(pointer), 0, from);
        } else {
            vectors.store(at(pointer), from);
        }
    }
}
