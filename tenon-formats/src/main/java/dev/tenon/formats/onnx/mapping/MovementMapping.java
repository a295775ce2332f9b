package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.RangeOf;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.filling.SizeOf;
import dev.tenon.core.ir.op.image.DepthToSpace;
import dev.tenon.core.ir.op.image.SpaceToDepth;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.core.ir.op.indexing.OneHotBy;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Expand;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SqueezeAxes;
import dev.tenon.core.ir.op.movement.Tile;
import dev.tenon.core.ir.op.movement.TileBy;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Shapes: changing them, asking for them, repeating and joining along them. */
final class MovementMapping {
    private MovementMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "Reshape" ->
                        n.since(5) ? reshape(n) : ShapeChanges.reshape(n, n.in(0), n.attrInts("shape"), false);
                    case "Transpose" -> transpose(n);
                    case "Concat" -> concat(n);
                    case "Squeeze" -> squeeze(n, n.since(13) ? inputAxes(n) : n.attrInts("axes"));
                    case "Unsqueeze" -> unsqueeze(n, n.since(13) ? n.knownLongs(1) : n.attrInts("axes"));
                    case "Flatten" -> flatten(n);
                    case "Expand" -> expand(n, n.in(0), n.in(1));
                    case "Tile" -> tile(n);
                    case "Shape" ->
                        n.add(new ShapeOf(n.attrInt("start", 0), n.attrInt("end", Long.MAX_VALUE)), n.in(0));
                    case "Size" -> n.add(new SizeOf(), n.in(0));
                    case "Identity" -> n.in(0);
                    case "DepthToSpace" -> depthToSpace(n);
                    case "SpaceToDepth" -> n.add(new SpaceToDepth(n.attrInt("blocksize")), n.in(0));
                    case "Trilu" -> trilu(n);
                    case "OneHot" -> oneHot(n);
                    case "Range" -> n.add(new RangeOf(), n.in(0), n.in(1), n.in(2));
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    private static Value reshape(NodeContext n) {
        List<Long> sizes = n.knownLongs(1);
        boolean allowZero = n.attrFlag("allowzero", false);
        return sizes != null
                ? ShapeChanges.reshape(n, n.in(0), sizes, allowZero)
                : n.add(new ReshapeTo(allowZero), n.in(0), n.in(1));
    }

    private static Value transpose(NodeContext n) {
        Value x = n.in(0);
        if (!n.hasAttr("perm")) {
            int rank = n.rank(x);
            return n.add(
                    new Transpose(IntStream.range(0, rank)
                            .map(i -> rank - 1 - i)
                            .boxed()
                            .toList()),
                    x);
        }
        List<Integer> permutation =
                n.attrInts("perm").stream().map(axis -> n.axis(x, axis)).toList();
        return n.add(new Transpose(permutation), x);
    }

    private static Value concat(NodeContext n) {
        List<Value> parts = n.all();
        if (parts.isEmpty()) {
            throw n.error("input 0 is missing");
        }
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        long axis = n.since(4) ? n.attrInt("axis") : n.attrInt("axis", 1);
        Value ranked = parts.stream()
                .filter(part -> part.shape().isRanked())
                .findFirst()
                .orElse(parts.getFirst());
        return n.addAll(new Concat(n.axis(ranked, axis)), parts).getFirst();
    }

    private static @Nullable List<Long> inputAxes(NodeContext n) {
        return n.has(1) ? n.knownLongs(1) : List.of();
    }

    /** @param axes empty for every axis of size 1; null when they are not known yet */
    private static Value squeeze(NodeContext n, @Nullable List<Long> axes) {
        Value x = n.in(0);
        if (axes == null) {
            return n.add(new SqueezeAxes(), x, n.in(1));
        }
        if (!axes.isEmpty()) {
            return ShapeChanges.squeeze(n, x, axes);
        }
        if (!x.shape().isConcrete()) {
            return n.add(new SqueezeAxes(), x);
        }
        List<Long> ones = new ArrayList<>();
        for (int axis = 0; axis < x.shape().rank(); axis++) {
            if (x.shape().size(axis) == 1) {
                ones.add((long) axis);
            }
        }
        return ones.isEmpty() ? x : ShapeChanges.squeeze(n, x, ones);
    }

    private static Value unsqueeze(NodeContext n, @Nullable List<Long> axes) {
        return axes == null ? n.add(new UnsqueezeAxes(), n.in(0), n.in(1)) : ShapeChanges.unsqueeze(n, n.in(0), axes);
    }

    private static Value flatten(NodeContext n) {
        Value x = n.in(0);
        int rank = n.rank(x);
        long axis = n.attrInt("axis", 1);
        // unlike other axes, this one may stand behind the last dim
        return ShapeChanges.matrix(n, x, axis == rank ? rank : n.axis(x, axis));
    }

    /** Broadcasts a value to sizes given as another. */
    static Value expand(NodeContext n, Value x, Value sizes) {
        NdArray known = NodeContext.known(sizes);
        if (known == null || !x.shape().isRanked()) {
            return n.add(new ExpandTo(), x, sizes);
        }
        Shape result = Shape.broadcast(x.shape(), Shape.of(known.toLongs()));
        if (result.equals(x.shape()) && result.isConcrete()) {
            return x;
        }
        return result.isConcrete() && x.shape().isConcrete()
                ? n.add(new Expand(boxed(result.sizes())), x)
                : n.addTyped(new ExpandTo(), new TensorType(x.dtype(), result), x, sizes);
    }

    private static List<Long> boxed(long[] values) {
        return IntStream.range(0, values.length).mapToObj(i -> values[i]).toList();
    }

    private static Value tile(NodeContext n) {
        List<Long> repeats = n.knownLongs(1);
        return repeats == null ? n.add(new TileBy(), n.in(0), n.in(1)) : n.add(new Tile(repeats), n.in(0));
    }

    private static Value depthToSpace(NodeContext n) {
        return switch (n.attrString("mode", "DCR")) {
            case "DCR" -> n.add(new DepthToSpace(n.attrInt("blocksize"), false), n.in(0));
            case "CRD" -> n.add(new DepthToSpace(n.attrInt("blocksize"), true), n.in(0));
            default -> throw n.error("the mode must be DCR or CRD");
        };
    }

    private static Value trilu(NodeContext n) {
        Value x = n.in(0);
        boolean upper = n.attrFlag("upper", true);
        List<Long> diagonal = n.has(1) ? n.knownLongs(1) : List.of(0L);
        if (diagonal != null && diagonal.size() == 1) {
            return n.add(new Trilu(upper, diagonal.getFirst()), x);
        }
        // a diagonal that only a run knows: element by element, by its place
        int rank = n.rank(x);
        Value offset = n.sub(index(n, x, rank - 1), ShapeChanges.unsqueeze(n, index(n, x, rank - 2), List.of(1L)));
        Value wanted = n.cast(n.in(1), DType.I64);
        Value kept = n.compare(upper ? CompareFn.GE : CompareFn.LE, offset, wanted);
        return n.where(kept, x, ShapeChanges.scalarLike(n, x, 0));
    }

    /** 0, 1, ... along an axis. */
    static Value index(NodeContext n, Value x, int axis) {
        Value size = n.reshape(ShapeChanges.sizes(n, x, axis, axis + 1));
        return n.add(new RangeOf(), n.longScalar(0), size, n.longScalar(1));
    }

    private static Value oneHot(NodeContext n) {
        Value indices = n.cast(n.in(0), DType.I64);
        int rank = n.rank(indices) + 1;
        int axis = Shape.unknown(rank).axis(n.attrInt("axis", -1));
        List<Long> depth = n.knownLongs(1);
        return depth != null && depth.size() == 1
                ? n.add(new OneHot(depth.getFirst(), axis), indices, n.in(2))
                : n.add(new OneHotBy(axis), indices, n.cast(n.in(1), DType.I64), n.in(2));
    }

    /** A constant of one element everywhere, of sizes that are known now or later. */
    static Value fill(NodeContext n, ConstantData.Splat element, Value sizes) {
        NdArray known = NodeContext.known(sizes);
        if (known == null) {
            return n.add(new FillTo(element), sizes);
        }
        Shape shape = Shape.of(known.toLongs());
        return n.constant(new ConstantData.Splat(new TensorType(element.type().dtype(), shape), element.element()));
    }
}
