package dev.tenon.core.options;

/** How exactly products of f32 values are made. */
public enum Precision {
    /**
     * As fast as the device can with inputs of at least TF32 (10 bits of mantissa) and sums in f32. On the CPU the same
     * as {@link #STRICT}.
     */
    FAST,
    /** In f32 throughout. */
    STRICT
}
