package dev.tenon.core.ir.op.movement;

/** What lies outside of a padded axis. ONNX Pad-21. */
public enum PadMode {
    /** The fill value. */
    CONSTANT,
    /** The mirror image, the edge not repeated: c b | a b c | b a. An axis of one element repeats it. */
    REFLECT,
    /** The nearest element. */
    EDGE,
    /** The other end: b c | a b c | a b. */
    WRAP
}
