package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;

/** The numbers by which kernels know functions of two numbers, comparisons, and functions of one integer: {@code binary_fn.cuh}, with which a test compares them. */
public final class BinaryCodes {
    private BinaryCodes() {}

    public static int of(BinaryFn fn) {
        return switch (fn) {
            case ADD -> 1;
            case SUB -> 2;
            case MUL -> 3;
            case DIV -> 4;
            case FLOOR_DIV -> 5;
            case MOD -> 6;
            case FMOD -> 7;
            case POW -> 8;
            case PRELU -> 9;
            case MAX -> 10;
            case MIN -> 11;
            case ATAN2 -> 12;
            case AND -> 13;
            case OR -> 14;
            case XOR -> 15;
            case BIT_AND -> 16;
            case BIT_OR -> 17;
            case BIT_XOR -> 18;
            case SHL -> 19;
            case SHR -> 20;
        };
    }

    public static int of(CompareFn fn) {
        return switch (fn) {
            case EQ -> 1;
            case NE -> 2;
            case LT -> 3;
            case LE -> 4;
            case GT -> 5;
            case GE -> 6;
        };
    }

    /** A function of one number of any type. */
    public static int of(UnaryFn fn) {
        return fn == UnaryFn.NOT ? 61 : fn == UnaryFn.BIT_NOT ? 62 : UnaryCodes.of(fn);
    }
}
