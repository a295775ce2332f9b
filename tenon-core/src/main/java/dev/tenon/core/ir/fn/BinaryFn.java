package dev.tenon.core.ir.fn;

/** Functions of two numbers. Integers: {@code DIV} truncates, {@code FLOOR_DIV} rounds down, {@code MOD} takes the divisor's sign, {@code FMOD} the dividend's, division by zero is a DataException, overflow wraps. {@code MAX} and {@code MIN} propagate NaN, and +0 is above -0. {@code POW} follows IEEE 754 (C99 Annex F): pow(1, NaN) = pow(x, 0) = pow(-1, inf) = 1; an integer base with a negative exponent gives the truncated quotient, and 0 to a negative power is a DataException. {@code PRELU} is x where x >= 0, else slope * x. {@code AND OR XOR} take booleans, {@code BIT_*}, {@code SHL}, {@code SHR} integers (shifts by the width or more give 0, or the sign for a signed SHR). */
public enum BinaryFn {
    ADD,
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
    AND,
    OR,
    XOR,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    SHL,
    SHR
}
