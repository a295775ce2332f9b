package dev.tenon.core.ir.fn;

import java.util.Locale;

/**
 * Reductions, and what is true of each: the types it takes, its code, whether an empty set has a result.
 *
 * <p>{@code LOG_SUM} is log(sum x), {@code LOG_SUM_EXP} its stable form over exponentials; {@code ANY} and {@code ALL}
 * take booleans. NaN wins max and min.
 */
public enum ReduceFn {
    SUM(0, Accepts.NUMBER),
    MEAN(1, Accepts.NUMBER),
    MAX(2, Accepts.ANY),
    MIN(3, Accepts.ANY),
    PROD(4, Accepts.NUMBER),
    L1(5, Accepts.NUMBER),
    L2(6, Accepts.NUMBER),
    LOG_SUM(7, Accepts.NUMBER),
    LOG_SUM_EXP(8, Accepts.NUMBER),
    SUM_SQUARE(9, Accepts.NUMBER),
    ANY(10, Accepts.BOOL),
    ALL(11, Accepts.BOOL);

    private final int code;
    private final Accepts accepts;

    ReduceFn(int code, Accepts accepts) {
        this.code = code;
        this.accepts = accepts;
    }

    /** Returns the name in messages and in the text form: {@code log_sum}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the number by which kernels know the reduction; stated, not counted. */
    public int code() {
        return code;
    }

    /** Returns the types of the elements. */
    public Accepts accepts() {
        return accepts;
    }

    /** Returns whether a set without elements has a result. */
    public boolean hasIdentity() {
        return this != MAX && this != MIN;
    }
}
