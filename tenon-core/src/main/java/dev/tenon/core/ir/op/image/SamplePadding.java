package dev.tenon.core.ir.op.image;

/** What lies outside of an image that is sampled: zeros, its nearest element, or its mirror image. */
public enum SamplePadding {
    ZEROS,
    BORDER,
    REFLECTION
}
