package dev.tenon.core.ir.fn;

import dev.tenon.core.ir.DType;
import java.util.Locale;

/**
 * Comparisons, and all that is true of each: the types it takes, its code, its meaning. Every one but {@code NE} is
 * false where an operand is NaN.
 */
public enum CompareFn {
    EQ(1, Accepts.ANY),
    NE(2, Accepts.ANY),
    LT(3, Accepts.NUMBER),
    LE(4, Accepts.NUMBER),
    GT(5, Accepts.NUMBER),
    GE(6, Accepts.NUMBER);

    private final int code;
    private final Accepts accepts;

    CompareFn(int code, Accepts accepts) {
        this.code = code;
        this.accepts = accepts;
    }

    /** Returns the name in messages and in the text form: {@code eq}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the number by which kernels know the comparison, above 0; stated, not counted. */
    public int code() {
        return code;
    }

    /** Returns the types of the operands. */
    public Accepts accepts() {
        return accepts;
    }

    /** Returns whether the comparison of two floats holds. */
    public boolean test(double a, double b) {
        return switch (this) {
            case EQ -> a == b;
            case NE -> a != b;
            case LT -> a < b;
            case LE -> a <= b;
            case GT -> a > b;
            case GE -> a >= b;
        };
    }

    /** Returns whether the comparison of two integers or booleans holds, sign- or zero-extended from their type. */
    public boolean test(DType dtype, long a, long b) {
        int order = IntegerMath.order(dtype, a, b);
        return switch (this) {
            case EQ -> order == 0;
            case NE -> order != 0;
            case LT -> order < 0;
            case LE -> order <= 0;
            case GT -> order > 0;
            case GE -> order >= 0;
        };
    }
}
