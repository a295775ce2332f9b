package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.SamplePadding;
import dev.tenon.core.ir.op.pooling.PoolFn;

/** The numbers by which kernels know modes: constants of pool.cu, resize.cuh and grid_sample.cu. */
final class WindowCodes {
    private WindowCodes() {}

    static int of(PoolFn fn) {
        return switch (fn) {
            case MAX -> 0;
            case AVERAGE -> 1;
            case LP -> 2;
        };
    }

    static int of(ResizeMode mode) {
        return switch (mode) {
            case NEAREST -> 0;
            case LINEAR -> 1;
            case CUBIC -> 2;
        };
    }

    static int of(CoordinateMode mode) {
        return switch (mode) {
            case HALF_PIXEL -> 0;
            case HALF_PIXEL_SYMMETRIC -> 1;
            case PYTORCH_HALF_PIXEL -> 2;
            case ALIGN_CORNERS -> 3;
            case ASYMMETRIC -> 4;
            case TF_HALF_PIXEL_FOR_NN -> 5;
            case TF_CROP_AND_RESIZE -> 6;
        };
    }

    static int of(NearestMode mode) {
        return switch (mode) {
            case ROUND_PREFER_FLOOR -> 0;
            case ROUND_PREFER_CEIL -> 1;
            case FLOOR -> 2;
            case CEIL -> 3;
        };
    }

    static int of(SamplePadding padding) {
        return switch (padding) {
            case ZEROS -> 0;
            case BORDER -> 1;
            case REFLECTION -> 2;
        };
    }
}
