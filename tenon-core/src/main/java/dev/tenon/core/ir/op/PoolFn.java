package dev.tenon.core.ir.op;

/** What a pooling window gives. The average over a window is by the cells inside the padded area ({@code countPadding}) or inside the input; the maximum over padding alone is -inf. */
public enum PoolFn {
    MAX,
    AVERAGE,
    LP
}
