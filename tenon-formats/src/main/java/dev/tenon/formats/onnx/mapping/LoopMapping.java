package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.ir.op.control.Scan;
import dev.tenon.core.ir.op.control.ScanAxis;
import dev.tenon.formats.onnx.schema.GraphProto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Loops and scans. */
final class LoopMapping {
    private LoopMapping() {}

    static List<Value> loop(NodeContext n) {
        List<Value> carried = rest(n, 2);
        List<TensorType> fixed = List.of(TensorType.of(DType.I64), TensorType.of(DType.BOOL));
        Branches.Captured body = body(n, fixed, carried, List.of(), 1);
        List<Value> operands = new ArrayList<>();
        operands.add(n.has(0) ? n.in(0) : n.longScalar(Long.MAX_VALUE));
        operands.add(n.has(1) ? n.in(1) : n.constant(new ConstantData.Splat(TensorType.of(DType.BOOL), 1)));
        operands.addAll(carried);
        operands.addAll(body.captures());
        return n.addAll(new Loop(body.graphs().getFirst(), carried.size()), operands);
    }

    static List<Value> scan(NodeContext n) {
        int scanned = n.attrCount("num_scan_inputs");
        int states = n.inputs() - scanned;
        if (scanned < 1 || states < 0) {
            throw n.error("num_scan_inputs is " + scanned + " of " + n.inputs() + " inputs");
        }
        List<Long> axes = Window.list(n, "scan_input_axes", scanned, 0);
        List<Long> directions = Window.list(n, "scan_input_directions", scanned, 0);
        List<ScanAxis> inputs = new ArrayList<>();
        List<TensorType> slices = new ArrayList<>();
        for (int i = 0; i < scanned; i++) {
            Value x = n.in(states + i);
            int axis = n.axis(x, axes.get(i));
            inputs.add(new ScanAxis(axis, directions.get(i) != 0));
            slices.add(slice(x, axis));
        }
        List<Value> operands = new ArrayList<>(rest(n, 0));
        Branches.Captured body = body(n, List.of(), operands.subList(0, states), slices, 0);
        Graph graph = body.graphs().getFirst();
        List<Value> results = List.copyOf(graph.outputs().values());
        int stacked = results.size() - states;
        List<Long> outputAxes = Window.list(n, "scan_output_axes", stacked, 0);
        List<Long> outputDirections = Window.list(n, "scan_output_directions", stacked, 0);
        List<ScanAxis> outputs = new ArrayList<>();
        for (int i = 0; i < stacked; i++) {
            long axis = outputAxes.get(i);
            long place = axis < 0 ? axis + n.rank(results.get(states + i)) + 1 : axis;
            outputs.add(new ScanAxis(SizeMath.toInt("scan_output_axes", place), outputDirections.get(i) != 0));
        }
        operands.addAll(body.captures());
        return n.addAll(new Scan(graph, inputs, outputs), operands);
    }

    /**
     * Operator set 8: everything has a batch in front, whose elements are scanned each on its own. A scan over the
     * batch of scans over the second axis.
     */
    static List<Value> batchedScan(NodeContext n) {
        if (n.has(0)) {
            throw n.error("sequence_lens are not supported; give every sequence its whole length");
        }
        int scanned = n.attrCount("num_scan_inputs");
        List<Value> given = rest(n, 1);
        int states = given.size() - scanned;
        if (scanned < 1 || states < 0) {
            throw n.error("num_scan_inputs is " + scanned + " of " + given.size() + " inputs");
        }
        List<Long> directions = Window.list(n, "directions", scanned, 0);
        List<TensorType> rows = given.stream().map(x -> slice(x, 0)).toList();
        List<TensorType> slices = IntStream.range(states, given.size())
                .mapToObj(i -> new TensorType(
                        rows.get(i).dtype(), withoutAxis(rows.get(i).shape(), 0)))
                .toList();
        Branches.Captured body = n.branches().loopBody(n.attrGraph("body"), all(rows.subList(0, states), slices));
        Graph each = body.graphs().getFirst();
        int results = each.outputs().size();
        Scan inner = new Scan(
                each,
                directions.stream().map(d -> new ScanAxis(0, d != 0)).toList(),
                Collections.nCopies(results - states, new ScanAxis(0, false)));
        Graph row = GraphBuilder.build(each.name() + ":row", g -> {
            List<Value> operands = new ArrayList<>();
            for (TensorType type : rows) {
                operands.add(g.input("in" + operands.size(), type));
            }
            for (Value capture : body.captures()) {
                operands.add(g.input("in" + operands.size(), capture.type()));
            }
            List<Value> values = g.addAll(inner, operands);
            for (int i = 0; i < values.size(); i++) {
                g.output("out" + i, values.get(i));
            }
        });
        List<Value> operands = new ArrayList<>(given);
        operands.addAll(body.captures());
        return n.addAll(
                new Scan(
                        row,
                        Collections.nCopies(given.size(), new ScanAxis(0, false)),
                        Collections.nCopies(results, new ScanAxis(0, false))),
                operands);
    }

    private static List<Value> rest(NodeContext n, int from) {
        return IntStream.range(from, n.inputs()).mapToObj(n::in).toList();
    }

    private static TensorType slice(Value x, int axis) {
        return new TensorType(x.dtype(), withoutAxis(x.shape(), axis));
    }

    private static Shape withoutAxis(Shape shape, int axis) {
        return shape.isRanked() ? shape.without(axis) : shape;
    }

    private static List<TensorType> all(List<TensorType> first, List<TensorType> then) {
        List<TensorType> all = new ArrayList<>(first);
        all.addAll(then);
        return all;
    }

    /**
     * The body for carried values of shapes that hold in every iteration: those that they begin with, less precise
     * where the body gives others.
     *
     * @param results how many of the body's results stand before the carried ones
     */
    private static Branches.Captured body(
            NodeContext n, List<TensorType> before, List<Value> carried, List<TensorType> after, int results) {
        GraphProto proto = n.attrGraph("body");
        List<TensorType> types =
                new ArrayList<>(carried.stream().map(Value::type).toList());
        // a shape loses its numbers and then its rank, so the third round changes nothing any more
        while (true) {
            Branches.Captured body = n.branches().loopBody(proto, all(all(before, types), after));
            List<Value> given = List.copyOf(body.graphs().getFirst().outputs().values());
            boolean settled = true;
            for (int i = 0; i < types.size() && results + i < given.size(); i++) {
                Shape common =
                        types.get(i).shape().common(given.get(results + i).shape());
                if (!common.equals(types.get(i).shape())) {
                    types.set(i, new TensorType(types.get(i).dtype(), common));
                    settled = false;
                }
            }
            if (settled) {
                return body;
            }
        }
    }
}
