package dev.tenon.core.ir.op;

/** What a scattered update does to the element it meets. */
public enum ScatterFn {
    REPLACE,
    ADD,
    MUL,
    MIN,
    MAX
}
