package dev.tenon.core.ir.op.pooling;

/**
 * What a pooling window gives. The average over a window is by the cells inside the padded area ({@code countPadding})
 * or inside the input.
 */
public enum PoolFn {
    MAX,
    AVERAGE,
    LP
}
