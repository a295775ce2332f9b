package dev.tenon.core.ir.fn;

/** Comparisons; every one but {@code NE} is false where an operand is NaN. */
public enum CompareFn {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE
}
