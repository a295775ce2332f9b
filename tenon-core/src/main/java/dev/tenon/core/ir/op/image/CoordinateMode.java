package dev.tenon.core.ir.op.image;

/** How an index of the result maps to a coordinate of the input: ONNX Resize-19's coordinate_transformation_mode. */
public enum CoordinateMode {
    HALF_PIXEL,
    HALF_PIXEL_SYMMETRIC,
    PYTORCH_HALF_PIXEL,
    ALIGN_CORNERS,
    ASYMMETRIC,
    TF_HALF_PIXEL_FOR_NN,
    TF_CROP_AND_RESIZE
}
