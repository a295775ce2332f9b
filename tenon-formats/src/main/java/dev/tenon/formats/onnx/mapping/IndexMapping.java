package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.GatherElements;
import dev.tenon.core.ir.op.indexing.GatherNd;
import dev.tenon.core.ir.op.indexing.ScatterElements;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadBy;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.Split;
import dev.tenon.core.ir.op.movement.SplitBy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Parts of tensors: slices, pieces, elements by index, padding. */
final class IndexMapping {
    private IndexMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "Gather" -> one(n.add(new Gather(n.axis(n.in(0), n.attrInt("axis", 0))), n.in(0), n.in(1)));
            case "GatherElements" ->
                one(n.add(new GatherElements(n.axis(n.in(0), n.attrInt("axis", 0))), n.in(0), n.in(1)));
            case "GatherND" ->
                one(n.add(new GatherNd(n.attrCount("batch_dims", 0)), n.in(0), n.cast(n.in(1), DType.I64)));
            case "Scatter", "ScatterElements" ->
                one(n.add(
                        new ScatterElements(n.axis(n.in(0), n.attrInt("axis", 0)), reduction(n)),
                        n.in(0),
                        n.in(1),
                        n.in(2)));
            case "ScatterND" -> one(n.add(new ScatterNd(reduction(n)), n.in(0), n.cast(n.in(1), DType.I64), n.in(2)));
            case "Slice" -> one(n.since(10) ? slice(n) : sliceByAttributes(n));
            case "Split" -> split(n);
            case "Pad" -> one(n.since(11) ? pad(n) : padByAttributes(n));
            default -> throw OnnxOps.unlisted(n);
        };
    }

    private static List<Value> one(Value value) {
        return List.of(value);
    }

    private static ScatterFn reduction(NodeContext n) {
        return switch (n.attrString("reduction", "none")) {
            case "none" -> ScatterFn.REPLACE;
            case "add" -> ScatterFn.ADD;
            case "mul" -> ScatterFn.MUL;
            case "min" -> ScatterFn.MIN;
            case "max" -> ScatterFn.MAX;
            default -> throw n.error("the reduction \"" + n.attrString("reduction", "") + "\" is not known");
        };
    }

    private static Value sliceByAttributes(NodeContext n) {
        List<Long> starts = n.attrInts("starts");
        List<Long> axes = n.hasAttr("axes")
                ? n.attrInts("axes")
                : LongStream.range(0, starts.size()).boxed().toList();
        return slice(n, n.in(0), starts, n.attrInts("ends"), axes, Collections.nCopies(starts.size(), 1L));
    }

    private static Value slice(NodeContext n) {
        Value x = n.in(0);
        List<Long> starts = n.knownLongs(1);
        List<Long> ends = n.knownLongs(2);
        boolean settled = (!n.has(3) || n.known(3) != null) && (!n.has(4) || n.known(4) != null);
        if (starts != null && ends != null && settled) {
            List<Long> axes = n.has(3)
                    ? n.constantLongs(3, "axes")
                    : LongStream.range(0, starts.size()).boxed().toList();
            List<Long> steps = n.has(4) ? n.constantLongs(4, "steps") : Collections.nCopies(starts.size(), 1L);
            return slice(n, x, starts, ends, axes, steps);
        }
        List<Value> operands = new ArrayList<>(List.of(x, n.in(1), n.in(2)));
        if (n.has(3)) {
            operands.add(n.in(3));
        } else if (n.has(4) && n.in(1).shape().isConcrete()) {
            // the operation has steps only behind axes
            operands.add(n.longs(
                    LongStream.range(0, n.in(1).shape().elements()).boxed().toList()));
        }
        if (n.has(4)) {
            operands.add(n.in(4));
        }
        SliceBy op = new SliceBy(operands.size() > (n.has(4) ? 4 : 3), n.has(4));
        List<Long> axes = n.knownLongs(3);
        if (axes != null && x.shape().isRanked()) {
            Shape result = x.shape();
            for (long axis : axes) {
                result = result.with(n.axis(x, axis), Dim.unknown());
            }
            return n.addTyped(op, new TensorType(x.dtype(), result), operands.toArray(Value[]::new));
        }
        return n.addAll(op, operands).getFirst();
    }

    /** Slices by known bounds: a static slice of a concrete shape, else a deferred one of the most precise type. */
    private static Value slice(
            NodeContext n, Value x, List<Long> starts, List<Long> ends, List<Long> axes, List<Long> steps) {
        if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size()) {
            throw n.error("starts " + starts + ", ends " + ends + ", axes " + axes + ", steps " + steps
                    + " are not equally many");
        }
        if (steps.contains(0L)) {
            throw n.error("a step of 0");
        }
        if (!x.shape().isRanked()) {
            return n.add(new SliceBy(true, true), x, n.longs(starts), n.longs(ends), n.longs(axes), n.longs(steps));
        }
        int rank = x.shape().rank();
        List<Long> from = new ArrayList<>(Collections.nCopies(rank, 0L));
        List<Long> by = new ArrayList<>(Collections.nCopies(rank, 1L));
        Shape result = x.shape();
        for (int i = 0; i < axes.size(); i++) {
            int axis = n.axis(x, axes.get(i));
            Dim dim = x.shape().dim(axis);
            if (dim.isFixed()) {
                Bounds bounds = Bounds.of(dim.size(), starts.get(i), ends.get(i), steps.get(i));
                from.set(axis, bounds.start());
                by.set(axis, steps.get(i));
                result = result.with(axis, Dim.of(bounds.size()));
            } else {
                result = result.with(axis, Dim.unknown());
            }
        }
        if (x.shape().isConcrete()) {
            return result.equals(x.shape()) && !by.stream().anyMatch(step -> step < 0)
                    ? x
                    : n.add(
                            new Slice(
                                    from, LongStream.of(result.sizes()).boxed().toList(), by),
                            x);
        }
        return n.addTyped(
                new SliceBy(true, true),
                new TensorType(x.dtype(), result),
                x,
                n.longs(starts),
                n.longs(ends),
                n.longs(axes),
                n.longs(steps));
    }

    /** Where a slice of one axis starts and how long it is, clamped as numpy does. */
    private record Bounds(long start, long size) {
        static Bounds of(long dim, long start, long end, long step) {
            long lowest = step > 0 ? 0 : -1;
            long highest = step > 0 ? dim : dim - 1;
            long from = clamp(start < 0 ? start + dim : start, step > 0 ? 0 : Math.min(0, highest), highest);
            long to = clamp(end < 0 ? end + dim : end, lowest, highest);
            long span = step > 0 ? to - from : from - to;
            // the step may be the smallest long, which has no absolute value
            long stride = step == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(step);
            long size = span <= 0 ? 0 : (span - 1) / stride + 1;
            return new Bounds(size == 0 ? 0 : from, size);
        }

        private static long clamp(long value, long low, long high) {
            return Math.max(low, Math.min(high, value));
        }
    }

    private static List<Value> split(NodeContext n) {
        Value x = n.in(0);
        int axis = n.axis(x, n.attrInt("axis", 0));
        boolean given = n.since(13) ? n.has(1) : n.hasAttr("split");
        if (given) {
            List<Long> sizes = n.since(13) ? n.knownLongs(1) : n.attrInts("split");
            return sizes != null
                    ? n.addAll(new Split(axis, sizes), List.of(x))
                    : n.addAll(new SplitBy(axis, n.results()), List.of(x, n.in(1)));
        }
        int parts = n.attrCount("num_outputs", n.results());
        if (parts < 1) {
            throw n.error("a split into " + parts + " parts");
        }
        Dim dim = x.shape().isRanked() ? x.shape().dim(axis) : Dim.unknown();
        if (dim.isFixed()) {
            return n.addAll(new Split(axis, equalParts(n, dim.size(), parts)), List.of(x));
        }
        return n.addAll(new SplitBy(axis, parts), List.of(x, equalParts(n, x, axis, parts)));
    }

    /** Parts of equal size, the last one smaller where the dim does not divide (opset 18 on). */
    private static List<Long> equalParts(NodeContext n, long dim, int parts) {
        long size = Math.ceilDiv(dim, parts);
        List<Long> sizes = new ArrayList<>(Collections.nCopies(parts - 1, size));
        sizes.add(dim - size * (parts - 1));
        if (sizes.getLast() < 0 || (!n.since(18) && sizes.getLast() != size)) {
            throw n.error("an axis of size " + dim + " does not split into " + parts + " equal parts");
        }
        return sizes;
    }

    private static Value equalParts(NodeContext n, Value x, int axis, int parts) {
        Value dim = n.add(new dev.tenon.core.ir.op.filling.ShapeOf(axis, axis + 1L), x);
        Value size = n.div(n.add(dim, n.longs(parts - 1L)), n.longs(parts));
        List<Value> sizes = new ArrayList<>(Collections.nCopies(parts - 1, size));
        sizes.add(n.sub(dim, n.mul(size, n.longs(parts - 1L))));
        return parts == 1 ? dim : n.concat(sizes, 0);
    }

    private static Value padByAttributes(NodeContext n) {
        List<Long> pads = n.attrInts(n.since(2) ? "pads" : "paddings");
        double fill = n.attrFloat("value", 0);
        Value x = n.in(0);
        return staticPad(n, x, mode(n), pads, fill == 0 ? null : n.scalar(x.dtype(), fill));
    }

    private static Value pad(NodeContext n) {
        Value x = n.in(0);
        Value fill = n.has(2) ? n.in(2) : null;
        List<Long> pads = n.knownLongs(1);
        if (pads != null && !n.has(3)) {
            return staticPad(n, x, mode(n), pads, fill);
        }
        NdArray axes = n.known(3);
        if (pads != null && axes != null && x.shape().isRanked()) {
            return staticPad(n, x, mode(n), spread(n, x, pads, axes.toLongs()), fill);
        }
        List<Value> operands = new ArrayList<>(List.of(x, n.in(1)));
        if (fill != null) {
            operands.add(fill);
        }
        if (n.has(3)) {
            operands.add(n.in(3));
        }
        return n.addAll(new PadBy(mode(n), fill != null, n.has(3)), operands).getFirst();
    }

    private static Value staticPad(NodeContext n, Value x, PadMode mode, List<Long> pads, @Nullable Value fill) {
        if (pads.size() % 2 != 0) {
            throw n.error("pads are " + pads + "; expected two per dim");
        }
        int half = pads.size() / 2;
        return Pad.cropped(n, mode, x, pads.subList(0, half), pads.subList(half, half * 2), fill);
    }

    /** Amounts for some axes as amounts for all. */
    private static List<Long> spread(NodeContext n, Value x, List<Long> pads, long[] axes) {
        if (pads.size() != 2 * axes.length) {
            throw n.error("pads " + pads + " must be two an axis, for " + axes.length + " axes");
        }
        int rank = x.shape().rank();
        List<Long> all = new ArrayList<>(Collections.nCopies(2 * rank, 0L));
        for (int i = 0; i < axes.length; i++) {
            int axis = n.axis(x, axes[i]);
            all.set(axis, pads.get(i));
            all.set(rank + axis, pads.get(axes.length + i));
        }
        return all;
    }

    private static PadMode mode(NodeContext n) {
        return switch (n.attrString("mode", "constant")) {
            case "constant" -> PadMode.CONSTANT;
            case "reflect" -> PadMode.REFLECT;
            case "edge" -> PadMode.EDGE;
            case "wrap" -> PadMode.WRAP;
            default -> throw n.error("the mode \"" + n.attrString("mode", "") + "\" is not known");
        };
    }
}
