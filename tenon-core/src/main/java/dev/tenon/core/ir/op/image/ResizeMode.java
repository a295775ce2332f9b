package dev.tenon.core.ir.op.image;

/** How a resampled element is made from its neighbours. */
public enum ResizeMode {
    NEAREST,
    LINEAR,
    CUBIC
}
