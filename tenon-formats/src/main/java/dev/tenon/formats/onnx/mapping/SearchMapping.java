package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.searching.Compress;
import dev.tenon.core.ir.op.searching.NonMaxSuppression;
import dev.tenon.core.ir.op.searching.NonZero;
import dev.tenon.core.ir.op.searching.Unique;
import java.util.List;

/** Operators whose results are as large as what they find. */
final class SearchMapping {
    private SearchMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "NonZero" -> n.addAll(new NonZero(), List.of(n.in(0)));
            case "Compress" -> {
                boolean whole = !n.hasAttr("axis");
                Value x = whole ? flat(n, n.in(0)) : n.in(0);
                yield n.addAll(new Compress(whole ? 0 : n.axis(x, n.attrInt("axis"))), List.of(x, n.in(1)));
            }
            case "Unique" -> {
                boolean whole = !n.hasAttr("axis");
                Value x = whole ? flat(n, n.in(0)) : n.in(0);
                int axis = whole ? 0 : n.axis(x, n.attrInt("axis"));
                yield n.addAll(new Unique(axis, n.attrFlag("sorted", true)), List.of(x));
            }
            case "NonMaxSuppression" -> suppress(n);
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static Value flat(NodeContext n, Value x) {
        return ShapeChanges.reshape(n, x, List.of(-1L), true);
    }

    /** Without a number of boxes none are asked for; without a score threshold every score will do. */
    private static List<Value> suppress(NodeContext n) {
        DType dtype = n.in(0).dtype();
        return n.addAll(
                new NonMaxSuppression(n.attrFlag("center_point_box", false)),
                List.of(
                        n.in(0),
                        n.in(1),
                        n.has(2) ? n.in(2) : n.longScalar(0),
                        n.has(3) ? n.in(3) : n.scalar(dtype, 0),
                        n.has(4) ? n.in(4) : n.scalar(dtype, Double.NEGATIVE_INFINITY)));
    }
}
