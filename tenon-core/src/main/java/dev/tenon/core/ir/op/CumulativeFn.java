package dev.tenon.core.ir.op;

/** Running reductions. */
public enum CumulativeFn {
    SUM,
    PROD
}
