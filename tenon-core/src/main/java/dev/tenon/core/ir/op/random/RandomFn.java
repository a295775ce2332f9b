package dev.tenon.core.ir.op.random;

/** Distributions, each of two parameters: the ends of a range, the upper one left out; mean and standard deviation. */
public enum RandomFn {
    UNIFORM,
    NORMAL
}
