package dev.tenon.cpu.machine;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VectorAssembler.Arithmetic;

/** The two walks of a norm over a row. */
final class NormCode {
    private NormCode() {}

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
