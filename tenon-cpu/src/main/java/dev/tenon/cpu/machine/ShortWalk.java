package dev.tenon.cpu.machine;

import static dev.tenon.cpu.machine.Assembler.R10;
import static dev.tenon.cpu.machine.Assembler.R11;
import static dev.tenon.cpu.machine.Assembler.RAX;
import static dev.tenon.cpu.machine.Assembler.RBX;
import static dev.tenon.cpu.machine.Assembler.RDI;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.RegionKernel.Element;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;

/**
 * Rows of floats of 16 bits within a {@link RowWalk}: loaded as f32, rounded to even where they are stored. Uses
 * vectors 1 to 3 and the registers R10, R11, RAX and RBX.
 *
 * @param scratch of the arguments, where 16 bytes are free
 */
record ShortWalk(VectorAssembler code, VectorCode vectors, int scratch) {
    /** Sets R11 to where the walk is in rows of 16 bits. */
    void begin() {
        code.move(R11, RowWalk.OFFSET);
        code.shiftRight(R11, 1);
    }

    void load(Element element, int to, int pointer, boolean narrow) {
        Memory from = new Memory(pointer, R11, 1, 0);
        VectorAssembler wide = vectors.wide();
        if (wide == null && narrow) {
            copy(from, true);
            from = Memory.at(RDI, scratch);
        }
        if (element == Element.BF16) {
            if (wide != null) {
                wide.loadShorts512(to, narrow ? 1 : 0, from);
            } else {
                code.loadShorts256(to, from);
            }
            vectors.shift(to, to, 16);
        } else if (wide == null) {
            code.loadHalves256(to, from);
        } else if (narrow) {
            wide.loadHalvesMasked512(to, 1, from);
        } else {
            wide.loadHalves512(to, from);
        }
    }

    /** @param past whether whole vectors go past the caches: they are aligned */
    void store(Element element, int pointer, int value, boolean narrow, boolean past) {
        Memory to = new Memory(pointer, R11, 1, 0);
        VectorAssembler wide = vectors.wide();
        int from = value;
        if (element == Element.BF16) {
            roundBfloats(value);
            from = 2;
        }
        if (wide == null || past && !narrow) {
            shorten(element, from);
        }
        if (past && !narrow) {
            if (wide != null) {
                code.storeStream256(to, 1);
            } else {
                code.storeStream128(to, 1);
            }
        } else if (wide != null && element == Element.BF16) {
            wide.storeShorts512(to, narrow ? 1 : 0, from);
        } else if (wide != null) {
            wide.storeHalves512(to, narrow ? 1 : 0, from);
        } else if (narrow) {
            code.store128(Memory.at(RDI, scratch), 1);
            copy(to, false);
        } else {
            code.store128(to, 1);
        }
    }

    /** Floats, or the integers of bfloats, as 16 bits in the low half of vector 1. */
    private void shorten(Element element, int from) {
        boolean integers = element == Element.BF16;
        if (vectors.wide() != null) {
            if (integers) {
                vectors.wide().toShorts512(1, from);
            } else {
                vectors.wide().toHalves512(1, from);
            }
        } else if (integers) {
            code.toShorts256(1, from);
        } else {
            code.toHalves256(1, from);
        }
    }

    /** to = from, rounded to the values of the type. */
    void round(Element element, int to, int from) {
        if (element == Element.BF16) {
            roundBfloats(from);
            vectors.shift(to, 2, 16);
        } else if (vectors.wide() != null) {
            vectors.wide().toHalves512(1, from);
            vectors.wide().fromHalves512(to, 1);
        } else {
            code.toHalves256(1, from);
            code.fromHalves256(to, 1);
        }
    }

    /** The bfloats nearest to a vector as integers in vector 2; NaN stays NaN. */
    private void roundBfloats(int from) {
        vectors.shiftRight(1, from, 16);
        vectors.constant(3, Float.intBitsToFloat(1));
        vectors.arithmetic(Arithmetic.AND, 2, 1, 3);
        vectors.constant(3, Float.intBitsToFloat(0x7FFF));
        vectors.arithmetic(Arithmetic.ADD_INTEGERS, 2, 2, 3);
        vectors.arithmetic(Arithmetic.ADD_INTEGERS, 2, 2, from);
        vectors.shiftRight(2, 2, 16);
        vectors.constant(3, Float.intBitsToFloat(0x40));
        vectors.arithmetic(Arithmetic.OR, 1, 1, 3);
        vectors.replaceWhereNaN(2, from, 1);
    }

    /** Moves the elements that are left, one by one, from a row to the scratch or back: AVX2 has no masks for them. */
    private void copy(Memory row, boolean here) {
        Label top = new Label();
        code.address(RBX, row);
        code.load(R10, RowCode.argument(RowCode.N));
        code.andConstant(R10, vectors.bytes() / 4 - 1);
        Memory outside = new Memory(RBX, R10, 2, -2);
        Memory inside = new Memory(RDI, R10, 2, scratch - 2);
        code.place(top);
        code.load16(RAX, here ? outside : inside);
        code.store16(here ? inside : outside, RAX);
        code.subtractConstant(R10, 1);
        code.jump(Assembler.NOT_EQUAL, top);
    }
}
