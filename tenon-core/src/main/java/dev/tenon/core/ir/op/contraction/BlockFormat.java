package dev.tenon.core.ir.op.contraction;

/**
 * How GGUF files pack weights: blocks of elements that share scales, each block a fixed number of bytes, little-endian.
 * Layouts after the format's reference (ggml); {@code d} and {@code m} are f16 numbers of the block.
 *
 * <p>With {@code q} an element's stored integer: {@code Q4_0 d (q - 8)}, {@code Q4_1 d q + m}, {@code Q5_0 d (q - 16)},
 * {@code Q5_1 d q + m}, {@code Q8_0 d q}; {@code Q2_K}, {@code Q4_K}, {@code Q5_K} have a scale s and a minimum n in
 * each sub-block, {@code d s q - m n}; {@code Q3_K} and {@code Q6_K} a signed scale, {@code d s q}.
 */
public enum BlockFormat {
    Q4_0(32, 18),
    Q4_1(32, 20),
    Q5_0(32, 22),
    Q5_1(32, 24),
    Q8_0(32, 34),
    Q2_K(256, 84),
    Q3_K(256, 110),
    Q4_K(256, 144),
    Q5_K(256, 176),
    Q6_K(256, 210);

    private final int elements;
    private final int bytes;

    BlockFormat(int elements, int bytes) {
        this.elements = elements;
        this.bytes = bytes;
    }

    /** Elements of a block. */
    public int elements() {
        return elements;
    }

    /** Bytes of a block. */
    public int bytes() {
        return bytes;
    }
}
