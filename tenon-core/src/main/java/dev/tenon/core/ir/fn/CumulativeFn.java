package dev.tenon.core.ir.fn;

/** Running reductions. */
public enum CumulativeFn {
    SUM,
    PROD
}
