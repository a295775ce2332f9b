package dev.tenon.core.ir.op;

/** What lies outside: a constant, the mirror image without and with... see ONNX Pad-21: {@code REFLECT} does not repeat the edge, {@code EDGE} repeats it, {@code WRAP} starts again at the other end. */
public enum PadMode {
    CONSTANT,
    REFLECT,
    EDGE,
    WRAP
}
