package dev.tenon.core.options;

/**
 * The type that a model's f32 weights, given ones and the graph's own constants, are kept in on the device.
 *
 * <p>With 16 bits, what is computed from the weights is 16 bits wide too, wherever the operation bears it (sums stay in
 * f32); inputs and outputs keep their types. That halves the memory and, on GPUs with tensor cores, multiplies the
 * speed,
 * for about three decimal digits. A constant that f16 or bf16 cannot hold stays as it is.
 */
public enum WeightType {
    /** As given. */
    UNCHANGED,
    /** IEEE 754 half precision: 11 bits of mantissa, up to 65504. */
    F16,
    /** The upper half of an f32: 8 bits of mantissa, the range of f32. */
    BF16
}
