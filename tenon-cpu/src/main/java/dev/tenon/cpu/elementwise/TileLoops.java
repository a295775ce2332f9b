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
        return (_, a, ao, _, _, _, _, y, yo, n) -> {
            for (int i = 0; i < n; i++) {
                double x = kind == TileKind.FLOAT ? a.get(Loops.F32, ao + 4L * i) : a.get(F64, ao + 8L * i);
                boolean holds = nan
                        ? Double.isNaN(x)
                        : (positive && x == Double.POSITIVE_INFINITY) || (negative && x == Double.NEGATIVE_INFINITY);
                y.set(I8, yo + i, (byte) (holds ? 1 : 0));
            }
        };
    }

    static void unaryDouble(Unary op, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            y.set(F64, yo + 8L * i, op.apply(a.get(F64, ao + 8L * i)));
        }
    }

    static void binaryDouble(
            BinaryFn fn, MemorySegment a, long ao, MemorySegment b, long bo, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            y.set(F64, yo + 8L * i, fn.apply(a.get(F64, ao + 8L * i), b.get(F64, bo + 8L * i)));
        }
    }

    static void compareDouble(
            CompareFn fn, MemorySegment a, long ao, MemorySegment b, long bo, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            boolean holds = fn.test(a.get(F64, ao + 8L * i), b.get(F64, bo + 8L * i));
            y.set(I8, yo + i, (byte) (holds ? 1 : 0));
        }
    }

    static void unaryLong(Unary op, DType dtype, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I64, yo + 8L * i, wrap(dtype, op.apply(dtype, a.get(I64, ao + 8L * i))));
        }
    }

    static void binaryLong(
            BinaryFn fn,
            DType dtype,
            MemorySegment a,
            long ao,
            MemorySegment b,
            long bo,
            MemorySegment y,
            long yo,
            int n) {
        switch (fn) {
            case ADD -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, a.get(I64, ao + 8L * i) + b.get(I64, bo + 8L * i));
                }
            }
            case SUB -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, a.get(I64, ao + 8L * i) - b.get(I64, bo + 8L * i));
                }
            }
            case MUL -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, a.get(I64, ao + 8L * i) * b.get(I64, bo + 8L * i));
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
                    long p = a.get(I64, ao + 8L * i);
                    long q = b.get(I64, bo + 8L * i);
                    y.set(I64, yo + 8L * i, fn.apply(dtype, p, q));
                }
            }
        }
        wrap(dtype, y, yo, n);
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

    static void compareLong(
            CompareFn fn,
            DType dtype,
            MemorySegment a,
            long ao,
            MemorySegment b,
            long bo,
            MemorySegment y,
            long yo,
            int n) {
        for (int i = 0; i < n; i++) {
            boolean holds = fn.test(dtype, a.get(I64, ao + 8L * i), b.get(I64, bo + 8L * i));
            y.set(I8, yo + i, (byte) (holds ? 1 : 0));
        }
    }

    static void not(MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I8, yo + i, (byte) (a.get(I8, ao + i) == 0 ? 1 : 0));
        }
    }

    static void binaryBool(
            BinaryFn fn, MemorySegment a, long ao, MemorySegment b, long bo, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            boolean p = a.get(I8, ao + i) != 0;
            boolean q = b.get(I8, bo + i) != 0;
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
            y.set(I8, yo + i, (byte) (holds ? 1 : 0));
        }
    }

    static void compareBool(
            CompareFn fn, MemorySegment a, long ao, MemorySegment b, long bo, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            long p = a.get(I8, ao + i) != 0 ? 1 : 0;
            long q = b.get(I8, bo + i) != 0 ? 1 : 0;
            y.set(I8, yo + i, (byte) (fn.test(DType.BOOL, p, q) ? 1 : 0));
        }
    }

    /** Of longs, or of the bits of doubles. */
    static void selectLong(
            MemorySegment condition,
            long co,
            MemorySegment a,
            long ao,
            MemorySegment b,
            long bo,
            MemorySegment y,
            long yo,
            int n) {
        for (int i = 0; i < n; i++) {
            long p = a.get(I64, ao + 8L * i);
            long q = b.get(I64, bo + 8L * i);
            y.set(I64, yo + 8L * i, condition.get(I8, co + i) != 0 ? p : q);
        }
    }

    static void selectBool(
            MemorySegment condition,
            long co,
            MemorySegment a,
            long ao,
            MemorySegment b,
            long bo,
            MemorySegment y,
            long yo,
            int n) {
        for (int i = 0; i < n; i++) {
            y.set(I8, yo + i, condition.get(I8, co + i) != 0 ? a.get(I8, ao + i) : b.get(I8, bo + i));
        }
    }
}
