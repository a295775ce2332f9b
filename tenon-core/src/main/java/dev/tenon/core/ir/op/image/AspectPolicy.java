package dev.tenon.core.ir.op.image;

/** What given sizes mean when the aspect ratio is to be kept: ONNX Resize-19's keep_aspect_ratio_policy. */
public enum AspectPolicy {
    STRETCH,
    NOT_LARGER,
    NOT_SMALLER
}
