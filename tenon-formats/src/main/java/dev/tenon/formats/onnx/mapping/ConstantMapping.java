package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.movement.Trilu;
import java.util.List;

/** Values that the model itself holds or that follow from sizes alone. */
final class ConstantMapping {
    private ConstantMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "Constant" -> n.constant(constant(n));
                    case "ConstantOfShape" -> MovementMapping.fill(n, element(n), n.in(0));
                    case "EyeLike" -> eyeLike(n);
                    // the constants of the three windows: a - b cos(2 pi i / size) + c cos(4 pi i / size)
                    case "HannWindow" -> window(n, 0.5, 0.5, 0);
                    case "HammingWindow" -> window(n, 25.0 / 46, 1 - 25.0 / 46, 0);
                    case "BlackmanWindow" -> window(n, 0.42, 0.5, 0.08);
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    private static ConstantData constant(NodeContext n) {
        ConstantData tensor = n.attrTensor("value");
        if (tensor != null) {
            return tensor;
        }
        if (n.hasAttr("value_int")) {
            return NdArray.of(TensorType.of(DType.I64), n.attrInt("value_int")).toConstant();
        }
        if (n.hasAttr("value_ints")) {
            long[] values =
                    n.attrInts("value_ints").stream().mapToLong(Long::longValue).toArray();
            return NdArray.ofLongs(values).toConstant();
        }
        if (n.hasAttr("value_float")) {
            return NdArray.of(TensorType.of(DType.F32), n.attrFloat("value_float", 0))
                    .toConstant();
        }
        if (n.hasAttr("value_floats")) {
            double[] values = n.attrFloats("value_floats").stream()
                    .mapToDouble(Float::doubleValue)
                    .toArray();
            return NdArray.of(TensorType.of(DType.F32, values.length), values).toConstant();
        }
        throw n.error("a constant needs value, value_int, value_ints, value_float or value_floats; "
                + "strings and sparse tensors are not supported");
    }

    private static ConstantData.Splat element(NodeContext n) {
        ConstantData value = n.attrTensor("value");
        if (value == null) {
            return new ConstantData.Splat(TensorType.of(DType.F32), 0);
        }
        TensorType type = value.type();
        if (type.shape().elements() != 1) {
            throw n.error("the value must be one element, is " + type);
        }
        long bits = switch (value) {
            case ConstantData.Dense dense -> Elements.bits(type.dtype(), dense.segment(), 0);
            case ConstantData.Splat splat -> splat.element();
        };
        return new ConstantData.Splat(TensorType.of(type.dtype()), bits);
    }

    /** Ones on a diagonal: what both triangles of a matrix of ones have in common. */
    private static Value eyeLike(NodeContext n) {
        DType dtype = n.attrType("dtype", n.in(0).dtype());
        long diagonal = n.attrInt("k", 0);
        ConstantData.Splat one = new ConstantData.Splat(TensorType.of(dtype), Elements.fromDouble(dtype, 1));
        Value ones = MovementMapping.fill(n, one, ShapeChanges.sizes(n, n.in(0)));
        return n.add(new Trilu(false, diagonal), n.add(new Trilu(true, diagonal), ones));
    }

    private static Value window(NodeContext n, double a, double b, double c) {
        Value size = n.cast(n.in(0), DType.F32);
        Value period = n.attrFlag("periodic", true) ? size : n.sub(size, n.scalar(DType.F32, 1));
        Value index = n.add(new RangeOf(), n.scalar(DType.F32, 0), size, n.scalar(DType.F32, 1));
        Value angle = n.div(n.mul(index, n.scalar(DType.F32, 2 * Math.PI)), period);
        Value first = n.mul(n.unary(UnaryFn.COS, angle), n.scalar(DType.F32, -b));
        Value sum = n.add(first, n.scalar(DType.F32, a));
        if (c != 0) {
            Value twice = n.unary(UnaryFn.COS, n.mul(angle, n.scalar(DType.F32, 2)));
            sum = n.add(sum, n.mul(twice, n.scalar(DType.F32, c)));
        }
        return n.cast(sum, n.attrType("output_datatype", DType.F32));
    }
}
