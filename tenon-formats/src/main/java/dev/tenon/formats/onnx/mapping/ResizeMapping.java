package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.image.AspectPolicy;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.ResizeBy;
import dev.tenon.core.ir.op.image.ResizeMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Resampling: Resize of every version, and Upsample, its older form. */
final class ResizeMapping {
    private ResizeMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "Resize" -> n.since(11) ? resize(n) : resizeOld(n, n.in(1));
                    case "Upsample" -> resizeOld(n, n.since(9) ? n.in(1) : scales(n));
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    private static Value scales(NodeContext n) {
        List<Float> scales = n.attrFloats("scales");
        if (scales.isEmpty()) {
            throw n.error("the attribute \"scales\" is missing");
        }
        double[] values = scales.stream().mapToDouble(Float::doubleValue).toArray();
        return n.constant(NdArray.of(TensorType.of(dev.tenon.core.ir.DType.F32, values.length), values)
                .toConstant());
    }

    /** Before opset 11 coordinates were x / scale, rounded down when enlarging and up when shrinking. */
    private static Value resizeOld(NodeContext n, Value scales) {
        NdArray known = NodeContext.known(scales);
        boolean shrinks = false;
        for (int i = 0; known != null && i < known.size(); i++) {
            shrinks |= known.get(i) < 1;
        }
        ResizeBy op = new ResizeBy(
                mode(n),
                CoordinateMode.ASYMMETRIC,
                shrinks ? NearestMode.CEIL : NearestMode.FLOOR,
                -0.75,
                false,
                0,
                false,
                AspectPolicy.STRETCH,
                List.of(),
                false,
                true,
                false);
        return n.add(op, n.in(0), scales);
    }

    private static Value resize(NodeContext n) {
        Value x = n.in(0);
        CoordinateMode coordinates = coordinates(n);
        Value roi = coordinates == CoordinateMode.TF_CROP_AND_RESIZE ? given(n, 1) : null;
        Value scales = given(n, 2);
        Value sizes = given(n, 3);
        if ((scales == null) == (sizes == null)) {
            throw n.error("either scales or sizes must be given");
        }
        List<Value> operands = new ArrayList<>(List.of(x));
        for (Value operand : new @Nullable Value[] {roi, scales, sizes}) {
            if (operand != null) {
                operands.add(operand);
            }
        }
        List<Integer> axes =
                n.attrInts("axes").stream().map(axis -> n.axis(x, axis)).toList();
        ResizeBy op = new ResizeBy(
                mode(n),
                coordinates,
                nearest(n),
                n.attrFloat("cubic_coeff_a", -0.75),
                n.attrFlag("exclude_outside", false),
                n.attrFloat("extrapolation_value", 0),
                n.attrFlag("antialias", false),
                aspect(n),
                axes,
                roi != null,
                scales != null,
                sizes != null);
        return n.addAll(op, operands).getFirst();
    }

    /** An input; null where it is left out, or empty, as opset 11 made exporters write it. */
    private static @Nullable Value given(NodeContext n, int input) {
        if (!n.has(input)) {
            return null;
        }
        Value value = n.in(input);
        boolean empty = value.shape().isRanked()
                && value.shape().rank() == 1
                && value.shape().dim(0).is(0);
        return empty ? null : value;
    }

    private static ResizeMode mode(NodeContext n) {
        return switch (n.attrString("mode", "nearest")) {
            case "nearest" -> ResizeMode.NEAREST;
            case "linear", "bilinear" -> ResizeMode.LINEAR;
            case "cubic" -> ResizeMode.CUBIC;
            default -> throw n.error("the mode \"" + n.attrString("mode", "") + "\" is not known");
        };
    }

    private static CoordinateMode coordinates(NodeContext n) {
        String mode = n.attrString("coordinate_transformation_mode", "half_pixel");
        return switch (mode) {
            case "half_pixel" -> CoordinateMode.HALF_PIXEL;
            case "half_pixel_symmetric" -> CoordinateMode.HALF_PIXEL_SYMMETRIC;
            case "pytorch_half_pixel" -> CoordinateMode.PYTORCH_HALF_PIXEL;
            case "align_corners" -> CoordinateMode.ALIGN_CORNERS;
            case "asymmetric" -> CoordinateMode.ASYMMETRIC;
            case "tf_half_pixel_for_nn" -> CoordinateMode.TF_HALF_PIXEL_FOR_NN;
            case "tf_crop_and_resize" -> CoordinateMode.TF_CROP_AND_RESIZE;
            default -> throw n.error("coordinate_transformation_mode \"" + mode + "\" is not known");
        };
    }

    private static NearestMode nearest(NodeContext n) {
        String mode = n.attrString("nearest_mode", "round_prefer_floor");
        return switch (mode) {
            case "round_prefer_floor" -> NearestMode.ROUND_PREFER_FLOOR;
            case "round_prefer_ceil" -> NearestMode.ROUND_PREFER_CEIL;
            case "floor" -> NearestMode.FLOOR;
            case "ceil" -> NearestMode.CEIL;
            default -> throw n.error("nearest_mode \"" + mode + "\" is not known");
        };
    }

    private static AspectPolicy aspect(NodeContext n) {
        String policy = n.attrString("keep_aspect_ratio_policy", "stretch");
        return switch (policy) {
            case "stretch" -> AspectPolicy.STRETCH;
            case "not_larger" -> AspectPolicy.NOT_LARGER;
            case "not_smaller" -> AspectPolicy.NOT_SMALLER;
            default -> throw n.error("keep_aspect_ratio_policy \"" + policy + "\" is not known");
        };
    }
}
