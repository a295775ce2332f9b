package dev.tenon.core.ir.fn;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import java.util.Locale;

/**
 * Functions of two numbers, and all that is true of each: the types it takes, its code, its meaning.
 *
 * <p>Integers: {@code DIV} truncates, {@code FLOOR_DIV} rounds down, {@code MOD} takes the
 * divisor's sign, {@code FMOD} the dividend's, division by zero is a DataException, overflow wraps. {@code MAX} and
 * {@code MIN} propagate NaN, and +0 is above -0. {@code POW} follows IEEE 754 (C99 Annex F): pow(1, NaN) = pow(x, 0) =
 * pow(-1, inf) = 1; an integer base with a negative exponent gives the truncated quotient, and 0 to a negative power is
 * a DataException. {@code PRELU} is x where x >= 0, else slope * x. {@code AND OR XOR} take booleans, {@code BIT_*},
 * {@code SHL}, {@code SHR} integers (shifts by the width or more give 0, or the sign for a signed SHR).
 */
public enum BinaryFn {
    ADD(1, Accepts.NUMBER),
    SUB(2, Accepts.NUMBER),
    MUL(3, Accepts.NUMBER),
    DIV(4, Accepts.NUMBER),
    FLOOR_DIV(5, Accepts.NUMBER),
    MOD(6, Accepts.NUMBER),
    FMOD(7, Accepts.NUMBER),
    POW(8, Accepts.NUMBER),
    PRELU(9, Accepts.NUMBER),
    MAX(10, Accepts.NUMBER),
    MIN(11, Accepts.NUMBER),
    ATAN2(12, Accepts.FLOAT),
    AND(13, Accepts.BOOL),
    OR(14, Accepts.BOOL),
    XOR(15, Accepts.BOOL),
    BIT_AND(16, Accepts.INTEGER),
    BIT_OR(17, Accepts.INTEGER),
    BIT_XOR(18, Accepts.INTEGER),
    SHL(19, Accepts.INTEGER),
    SHR(20, Accepts.INTEGER);

    private final int code;
    private final Accepts accepts;

    BinaryFn(int code, Accepts accepts) {
        this.code = code;
        this.accepts = accepts;
    }

    /** Returns the name in messages and in the text form: {@code floor_div}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the number by which kernels know the function, above 0; stated, not counted. */
    public int code() {
        return code;
    }

    /** Returns the types of the arguments. */
    public Accepts accepts() {
        return accepts;
    }

    /**
     * Returns the function of two floats.
     *
     * @throws UnsupportedException for a function of integers or booleans
     */
    public double apply(double a, double b) {
        return switch (this) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> a / b;
            case FLOOR_DIV -> Math.floor(a / b);
            case MOD -> Formulas.mod(a, b);
            case FMOD -> a % b;
            case POW -> Formulas.pow(a, b);
            case PRELU -> a >= 0 ? a : b * a;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
            case ATAN2 -> Math.atan2(a, b);
            case AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR ->
                throw new UnsupportedException(word() + ": takes integers or booleans, has floats");
        };
    }

    /**
     * Returns the function of two integers or booleans, sign- or zero-extended from their type, exact modulo 2^64.
     *
     * @throws dev.tenon.core.error.DataException for division by zero, and zero to a negative power
     * @throws UnsupportedException for a function of floats alone
     */
    public long apply(DType dtype, long a, long b) {
        boolean unsigned = dtype.isUnsigned();
        return switch (this) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV ->
                unsigned
                        ? Long.divideUnsigned(a, IntegerMath.divisor(this, dtype, b))
                        : a / IntegerMath.divisor(this, dtype, b);
            case FLOOR_DIV ->
                unsigned
                        ? Long.divideUnsigned(a, IntegerMath.divisor(this, dtype, b))
                        : Math.floorDiv(a, IntegerMath.divisor(this, dtype, b));
            case MOD ->
                unsigned
                        ? Long.remainderUnsigned(a, IntegerMath.divisor(this, dtype, b))
                        : Math.floorMod(a, IntegerMath.divisor(this, dtype, b));
            case FMOD ->
                unsigned
                        ? Long.remainderUnsigned(a, IntegerMath.divisor(this, dtype, b))
                        : a % IntegerMath.divisor(this, dtype, b);
            case POW -> IntegerMath.pow(dtype, a, b);
            case PRELU -> unsigned || a >= 0 ? a : b * a;
            case MAX -> IntegerMath.greatest(dtype, a, b);
            case MIN -> IntegerMath.least(dtype, a, b);
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case XOR -> (a != 0) != (b != 0) ? 1 : 0;
            case BIT_AND -> a & b;
            case BIT_OR -> a | b;
            case BIT_XOR -> a ^ b;
            case SHL -> IntegerMath.wide(dtype, b) ? 0 : a << b;
            case SHR -> IntegerMath.wide(dtype, b) ? (!unsigned && a < 0 ? -1 : 0) : unsigned ? a >>> b : a >> b;
            case ATAN2 -> throw new UnsupportedException(word() + ": takes floats, has " + dtype);
        };
    }
}
