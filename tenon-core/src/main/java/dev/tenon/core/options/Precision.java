package dev.tenon.core.options;

/** How exactly products of f32 values are made. */
public enum Precision {
    /**
     * As fast as the device can with inputs of at least TF32 (10 bits of mantissa) and sums in f32. On the CPU as
     * {@link #STRICT}, but that convolutions of 3x3 cells may go by Winograd's algorithm.
     */
    FAST,
    /** In f32 throughout, as plain sums of products. */
    STRICT
}
