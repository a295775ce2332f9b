package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.DeformConv;
import dev.tenon.core.ir.op.image.Col2ImBy;
import dev.tenon.core.ir.op.image.GridSample;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.image.SamplePadding;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.pooling.MaxRoiPool;
import dev.tenon.core.ir.op.pooling.MaxUnpool;
import dev.tenon.core.ir.op.pooling.RoiAlign;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Images sampled at computed places, regions, and what pooling took apart. */
final class ImageMapping {
    /** No tensor has more dims than 64, of which two are no spatial ones. */
    private static final int MOST_SPATIAL_DIMS = 62;

    private ImageMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "GridSample" -> n.add(gridSample(n), n.in(0), n.in(1));
                    case "RoiAlign" -> n.add(roiAlign(n), n.in(0), n.in(1), n.in(2));
                    case "MaxRoiPool" -> n.add(maxRoiPool(n), n.in(0), n.in(1));
                    case "MaxUnpool" -> maxUnpool(n);
                    case "DeformConv" -> deformConv(n);
                    case "Col2Im" -> col2Im(n);
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    private static GridSample gridSample(NodeContext n) {
        String mode = n.attrString("mode", n.since(20) ? "linear" : "bilinear");
        String padding = n.attrString("padding_mode", "zeros");
        return new GridSample(
                switch (mode) {
                    case "nearest" -> ResizeMode.NEAREST;
                    case "linear", "bilinear" -> ResizeMode.LINEAR;
                    case "cubic", "bicubic" -> ResizeMode.CUBIC;
                    default -> throw n.error("the mode \"" + mode + "\" is not known");
                },
                switch (padding) {
                    case "zeros" -> SamplePadding.ZEROS;
                    case "border" -> SamplePadding.BORDER;
                    case "reflection" -> SamplePadding.REFLECTION;
                    default -> throw n.error("the padding_mode \"" + padding + "\" is not known");
                },
                n.attrFlag("align_corners", false));
    }

    private static RoiAlign roiAlign(NodeContext n) {
        String mode = n.attrString("mode", "avg");
        // operator set 10 had no choice
        String transformation =
                n.since(16) ? n.attrString("coordinate_transformation_mode", "half_pixel") : "output_half_pixel";
        if (!mode.equals("avg") && !mode.equals("max")) {
            throw n.error("the mode \"" + mode + "\" is not known");
        }
        if (!transformation.equals("half_pixel") && !transformation.equals("output_half_pixel")) {
            throw n.error("the coordinate_transformation_mode \"" + transformation + "\" is not known");
        }
        return new RoiAlign(
                n.attrInt("output_height", 1),
                n.attrInt("output_width", 1),
                n.attrInt("sampling_ratio", 0),
                n.attrFloat("spatial_scale", 1),
                transformation.equals("half_pixel"),
                mode.equals("max"));
    }

    private static MaxRoiPool maxRoiPool(NodeContext n) {
        List<Long> sizes = Window.list(n, "pooled_shape", 2, 0);
        return new MaxRoiPool(sizes.get(0), sizes.get(1), n.attrFloat("spatial_scale", 1));
    }

    /** The indices are those of the size that the window says; a larger output_shape has zeros behind it. */
    private static Value maxUnpool(NodeContext n) {
        List<Long> kernel = Window.bounded(n, "kernel_shape", n.attrInts("kernel_shape"), 1);
        int dims = kernel.size();
        List<Long> strides = Window.bounded(n, "strides", dims, 1);
        List<Long> pads = Window.bounded(n, "pads", 2 * dims, 0);
        Value x = n.in(0);
        Shape spatial = x.shape().range(2, n.rank(x));
        if (spatial.rank() != dims || !spatial.isConcrete()) {
            throw n.error("the input must have " + dims + " spatial dims of known size, is " + x.shape());
        }
        List<Long> sizes = IntStream.range(0, dims)
                .mapToObj(i -> SizeMath.sum(
                        n.op(),
                        SizeMath.product(n.op(), spatial.size(i) - 1, strides.get(i)),
                        kernel.get(i) - pads.get(i) - pads.get(i + dims)))
                .toList();
        Value y = n.add(new MaxUnpool(sizes), x, n.in(1));
        if (!n.has(2)) {
            return y;
        }
        List<Long> asked = n.constantLongs(2, "output_shape");
        if (asked.size() != dims + 2) {
            throw n.error("output_shape " + asked + " needs " + (dims + 2) + " sizes");
        }
        List<Long> none = Collections.nCopies(dims + 2, 0L);
        List<Long> after = new ArrayList<>(none);
        for (int i = 0; i < dims; i++) {
            after.set(i + 2, SizeMath.sum("output_shape", asked.get(i + 2), -sizes.get(i)));
        }
        return n.add(new Pad(PadMode.CONSTANT, none, after), y);
    }

    private static Value deformConv(NodeContext n) {
        List<Long> kernel = n.attrInts("kernel_shape");
        Value w = n.in(1);
        int dims = kernel.isEmpty() ? n.rank(w) - 2 : kernel.size();
        List<Long> pads = Window.bounded(n, "pads", 2 * dims, 0);
        List<Value> operands = new ArrayList<>(List.of(n.in(0), w, n.in(2)));
        if (n.has(3)) {
            operands.add(n.in(3));
        }
        if (n.has(4)) {
            operands.add(n.in(4));
        }
        DeformConv op = new DeformConv(
                Window.bounded(n, "strides", dims, 1),
                pads.subList(0, dims),
                pads.subList(dims, 2 * dims),
                Window.bounded(n, "dilations", dims, 1),
                n.attrInt("group", 1),
                n.attrInt("offset_group", 1),
                n.has(3),
                n.has(4));
        return n.addAll(op, operands).getFirst();
    }

    private static Value col2Im(NodeContext n) {
        Shape block = n.in(2).shape();
        if (!block.isConcrete()) {
            throw n.error("the number of spatial dims must be known, block_shape is " + n.in(2));
        }
        if (block.elements() > MOST_SPATIAL_DIMS) {
            throw n.error("block_shape has " + block.elements() + " sizes; expected at most " + MOST_SPATIAL_DIMS);
        }
        int dims = SizeMath.toInt("block_shape", block.elements());
        List<Long> pads = Window.bounded(n, "pads", 2 * dims, 0);
        return n.add(
                new Col2ImBy(
                        Window.bounded(n, "strides", dims, 1),
                        pads.subList(0, dims),
                        pads.subList(dims, 2 * dims),
                        Window.bounded(n, "dilations", dims, 1)),
                n.in(0),
                n.in(1),
                n.in(2));
    }
}
