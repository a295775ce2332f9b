package dev.tenon.core.ir.fn;

/** Reductions. {@code LOG_SUM} is log(sum x), {@code LOG_SUM_EXP} its stable form over exponentials; {@code ANY} and {@code ALL} take booleans. NaN wins max and min. */
public enum ReduceFn {
    SUM,
    MEAN,
    MAX,
    MIN,
    PROD,
    L1,
    L2,
    LOG_SUM,
    LOG_SUM_EXP,
    SUM_SQUARE,
    ANY,
    ALL
}
