package dev.tenon.core.ir.fn;

/** What a scattered update does to the element it meets. */
public enum ScatterFn {
    REPLACE,
    ADD,
    MUL,
    MIN,
    MAX
}
