package dev.tenon.cpu.elementwise;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.Registers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The elementwise loops over tiles of doubles, longs and booleans; those over floats are {@link Loops}. */
final class TileLoops {
    private static final ValueLayout.OfDouble F64 = Convert.F64;
    private static final ValueLayout.OfLong I64 = Convert.I64;
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    private TileLoops() {}

    /** {@code IS_NAN} and {@code IS_INF} of floats, to booleans. */
    static TileOp classify(Unary op, TileKind kind) {
        boolean nan = op.fn() == UnaryFn.IS_NAN;
        boolean positive = op.alpha() != 0;
        boolean negative = op.beta() != 0;
        return (_, registers, a, _, _, y, n) -> {
            MemorySegment from = registers.segments[a];
            long fromAt = registers.offsets[a];
            MemorySegment to = registers.segments[y];
            long toAt = registers.offsets[y];
            for (int i = 0; i < n; i++) {
                double x =
                        kind == TileKind.FLOAT ? from.get(Loops.F32, fromAt + 4L * i) : from.get(F64, fromAt + 8L * i);
                boolean holds = nan
                        ? Double.isNaN(x)
                        : (positive && x == Double.POSITIVE_INFINITY) || (negative && x == Double.NEGATIVE_INFINITY);
                to.set(I8, toAt + i, (byte) (holds ? 1 : 0));
            }
        };
    }

    static void unaryDouble(Unary op, Registers registers, int a, int y, int n) {
        MemorySegment from = registers.segments[a];
        long fromAt = registers.offsets[a];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            to.set(F64, toAt + 8L * i, op.apply(from.get(F64, fromAt + 8L * i)));
        }
    }

    static void binaryDouble(BinaryFn fn, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            to.set(F64, toAt + 8L * i, fn.apply(left.get(F64, leftAt + 8L * i), right.get(F64, rightAt + 8L * i)));
        }
    }

    static void compareDouble(CompareFn fn, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            boolean holds = fn.test(left.get(F64, leftAt + 8L * i), right.get(F64, rightAt + 8L * i));
            to.set(I8, toAt + i, (byte) (holds ? 1 : 0));
        }
    }

    static void unaryLong(Unary op, DType dtype, Registers registers, int a, int y, int n) {
        MemorySegment from = registers.segments[a];
        long fromAt = registers.offsets[a];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            to.set(I64, toAt + 8L * i, wrap(dtype, op.apply(dtype, from.get(I64, fromAt + 8L * i))));
        }
    }

    static void binaryLong(BinaryFn fn, DType dtype, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        switch (fn) {
            case ADD -> {
                for (int i = 0; i < n; i++) {
                    to.set(I64, toAt + 8L * i, left.get(I64, leftAt + 8L * i) + right.get(I64, rightAt + 8L * i));
                }
            }
            case SUB -> {
                for (int i = 0; i < n; i++) {
                    to.set(I64, toAt + 8L * i, left.get(I64, leftAt + 8L * i) - right.get(I64, rightAt + 8L * i));
                }
            }
            case MUL -> {
                for (int i = 0; i < n; i++) {
                    to.set(I64, toAt + 8L * i, left.get(I64, leftAt + 8L * i) * right.get(I64, rightAt + 8L * i));
                }
            }
            case DIV,
                    FLOOR_DIV,
                    MOD,
                    FMOD,
                    POW,
                    PRELU,
                    MAX,
                    MIN,
                    ATAN2,
                    AND,
                    OR,
                    XOR,
                    BIT_AND,
                    BIT_OR,
                    BIT_XOR,
                    SHL,
                    SHR -> {
                for (int i = 0; i < n; i++) {
                    long p = left.get(I64, leftAt + 8L * i);
                    long q = right.get(I64, rightAt + 8L * i);
                    to.set(I64, toAt + 8L * i, fn.apply(dtype, p, q));
                }
            }
        }
        wrap(dtype, to, toAt, n);
    }

    private static long wrap(DType dtype, long value) {
        return Elements.toLong(dtype, Elements.fromLong(dtype, value));
    }

    /** Results are exact modulo 2^64; here they become the type's own. */
    static void wrap(DType dtype, MemorySegment y, long yo, int n) {
        if (dtype.bits() == 64) {
            return;
        }
        int shift = 64 - dtype.bits();
        if (dtype.isUnsigned()) {
            for (int i = 0; i < n; i++) {
                y.set(I64, yo + 8L * i, y.get(I64, yo + 8L * i) << shift >>> shift);
            }
        } else {
            for (int i = 0; i < n; i++) {
                y.set(I64, yo + 8L * i, y.get(I64, yo + 8L * i) << shift >> shift);
            }
        }
    }

    static void compareLong(CompareFn fn, DType dtype, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            boolean holds = fn.test(dtype, left.get(I64, leftAt + 8L * i), right.get(I64, rightAt + 8L * i));
            to.set(I8, toAt + i, (byte) (holds ? 1 : 0));
        }
    }

    static void not(Registers registers, int a, int y, int n) {
        MemorySegment from = registers.segments[a];
        long fromAt = registers.offsets[a];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            to.set(I8, toAt + i, (byte) (from.get(I8, fromAt + i) == 0 ? 1 : 0));
        }
    }

    static void binaryBool(BinaryFn fn, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            boolean p = left.get(I8, leftAt + i) != 0;
            boolean q = right.get(I8, rightAt + i) != 0;
            boolean holds = switch (fn) {
                case AND -> p && q;
                case OR -> p || q;
                case XOR -> p ^ q;
                case ADD,
                        SUB,
                        MUL,
                        DIV,
                        FLOOR_DIV,
                        MOD,
                        FMOD,
                        POW,
                        PRELU,
                        MAX,
                        MIN,
                        ATAN2,
                        BIT_AND,
                        BIT_OR,
                        BIT_XOR,
                        SHL,
                        SHR -> throw new UnsupportedException(fn + ": does not take booleans");
            };
            to.set(I8, toAt + i, (byte) (holds ? 1 : 0));
        }
    }

    static void compareBool(CompareFn fn, Registers registers, int a, int b, int y, int n) {
        MemorySegment left = registers.segments[a];
        long leftAt = registers.offsets[a];
        MemorySegment right = registers.segments[b];
        long rightAt = registers.offsets[b];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            long p = left.get(I8, leftAt + i) != 0 ? 1 : 0;
            long q = right.get(I8, rightAt + i) != 0 ? 1 : 0;
            to.set(I8, toAt + i, (byte) (fn.test(DType.BOOL, p, q) ? 1 : 0));
        }
    }

    /** Takes the elements of b where a holds, otherwise those of c: longs, or the bits of doubles. */
    static void selectLong(Registers registers, int a, int b, int c, int y, int n) {
        MemorySegment condition = registers.segments[a];
        long conditionAt = registers.offsets[a];
        MemorySegment chosen = registers.segments[b];
        long chosenAt = registers.offsets[b];
        MemorySegment other = registers.segments[c];
        long otherAt = registers.offsets[c];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            long p = chosen.get(I64, chosenAt + 8L * i);
            long q = other.get(I64, otherAt + 8L * i);
            to.set(I64, toAt + 8L * i, condition.get(I8, conditionAt + i) != 0 ? p : q);
        }
    }

    static void selectBool(Registers registers, int a, int b, int c, int y, int n) {
        MemorySegment condition = registers.segments[a];
        long conditionAt = registers.offsets[a];
        MemorySegment chosen = registers.segments[b];
        long chosenAt = registers.offsets[b];
        MemorySegment other = registers.segments[c];
        long otherAt = registers.offsets[c];
        MemorySegment to = registers.segments[y];
        long toAt = registers.offsets[y];
        for (int i = 0; i < n; i++) {
            to.set(
                    I8,
                    toAt + i,
                    condition.get(I8, conditionAt + i) != 0
                            ? chosen.get(I8, chosenAt + i)
                            : other.get(I8, otherAt + i));
        }
    }
}
