package dev.tenon.core.ir.op.control;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.PlainGraphBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Inline;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Runs a graph over the slices of values, with states that go from one slice to the next.
 *
 * <p>[states, scanned values, captured values] → [states after the last slice, scan outputs stacked along their axes].
 * The body takes [states, slices without their axis, captured] and gives [states, scan outputs]. Scanned values are
 * equally long along their axes; there is one at least. A {@link Loop} that gathers the slices. ONNX Scan-9.
 *
 * @param inputs an axis for each scanned value
 * @param outputs an axis for each scan output
 */
public record Scan(Graph body, List<ScanAxis> inputs, List<ScanAxis> outputs) implements Deferred {
    public Scan {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        int states = body.outputs().size() - outputs.size();
        if (inputs.isEmpty() || states < 0 || body.inputs().size() < states + inputs.size()) {
            throw new ShapeException("scan: the body \"" + body.name() + "\" takes "
                    + body.inputs().size() + " values and gives "
                    + body.outputs().size() + "; expected " + states
                    + " states among both, one scanned value or more (" + inputs.size() + ") and " + outputs.size()
                    + " scan outputs");
        }
        if (!body.parameters().isEmpty()) {
            throw new ShapeException("scan: the body \"" + body.name() + "\" has parameters; expected inputs only");
        }
    }

    private int states() {
        return body.outputs().size() - outputs.size();
    }

    private List<Value> results() {
        return List.copyOf(body.outputs().values());
    }

    @Override
    public Arity arity() {
        return Arity.exactly(body.inputs().size());
    }

    @Override
    public List<DType> dtypes(List<DType> types) {
        for (int i = 0; i < types.size(); i++) {
            Expect.same(
                    mnemonic(), "input " + i, types.get(i), body.inputs().get(i).dtype());
        }
        for (int i = 0; i < states(); i++) {
            Expect.same(
                    mnemonic(), "state " + i + " of the body", results().get(i).dtype(), types.get(i));
        }
        return results().stream().map(Value::dtype).toList();
    }

    @Override
    public List<Shape> shapes(List<Shape> shapes) {
        Dim length = Dim.unknown();
        for (int i = 0; i < inputs.size(); i++) {
            Shape x = shapes.get(states() + i);
            int axis = inputs.get(i).axis();
            Rules.axis(mnemonic(), axis, x);
            length = Expect.dim(mnemonic(), "scanned value " + i, x, axis, length);
        }
        List<Shape> told = new ArrayList<>();
        for (int i = 0; i < results().size(); i++) {
            Shape given = results().get(i).shape();
            if (i < states()) {
                told.add(given.common(shapes.get(i)));
            } else {
                told.add(given.isRanked() ? stacked(given, outputs.get(i - states()), length) : given);
            }
        }
        return told;
    }

    private static Shape stacked(Shape each, ScanAxis along, Dim length) {
        Expect.shape(
                along.axis() <= each.rank(),
                "scan",
                () -> "axis " + along.axis() + " for scan outputs " + each + "; expected 0 to " + each.rank());
        return each.range(0, along.axis()).concat(Shape.of(length)).concat(each.range(along.axis(), each.rank()));
    }

    @Override
    public Set<Integer> neededValues() {
        return Set.of();
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> operands, Known known) {
        long length = operands.get(states()).shape().size(inputs.getFirst().axis());
        List<Value> all = new ArrayList<>(List.of(
                g.constant(new ConstantData.Splat(TensorType.of(DType.I64), length)),
                g.constant(new ConstantData.Splat(TensorType.of(DType.BOOL), 1))));
        all.addAll(operands);
        List<TensorType> types = operands.stream().map(Value::type).toList();
        List<Value> results = new ArrayList<>(g.addAll(new Loop(loopBody(types, length), states()), all));
        for (int i = states(); i < results.size(); i++) {
            results.set(i, placed(g, results.get(i), outputs.get(i - states())));
        }
        return results;
    }

    private Graph loopBody(List<TensorType> types, long length) {
        return PlainGraphBuilder.assemble(body.name(), g -> {
            Value iteration = g.input("iteration", TensorType.of(DType.I64));
            Value condition = g.input("condition", TensorType.of(DType.BOOL));
            List<Value> given = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                // a state may have another shape after the first slice, as far as the body takes it
                TensorType type = i < states() ? body.inputs().get(i).type() : types.get(i);
                Value value = g.input("in" + i, type);
                int scanned = i - states();
                given.add(
                        scanned >= 0 && scanned < inputs.size()
                                ? slice(g, value, inputs.get(scanned), iteration, length)
                                : value);
            }
            List<Value> results = Inline.graph(g, body, given);
            g.output("condition", condition);
            for (int i = 0; i < results.size(); i++) {
                g.output("out" + i, results.get(i));
            }
        });
    }

    private static Value slice(PlainGraphBuilder g, Value x, ScanAxis along, Value iteration, long length) {
        Value last = g.constant(new ConstantData.Splat(TensorType.of(DType.I64), length - 1));
        return g.add(
                new Gather(along.axis()),
                x,
                along.reverse() ? g.add(new Binary(BinaryFn.SUB), last, iteration) : iteration);
    }

    /** Brings the first axis, along which loops stack, to its place and order. */
    private static Value placed(OpBuilder g, Value stacked, ScanAxis along) {
        Value result = stacked;
        if (along.reverse()) {
            result = g.add(
                    new SliceBy(true, true), result, longs(g, -1), longs(g, Long.MIN_VALUE), longs(g, 0), longs(g, -1));
        }
        if (along.axis() == 0) {
            return result;
        }
        Expect.shape(
                stacked.shape().isRanked(),
                "scan",
                () -> "scan outputs without a known rank along axis " + along.axis() + "; expected axis 0");
        int[] permutation = IntStream.range(0, stacked.shape().rank())
                .map(i -> i == along.axis() ? 0 : i < along.axis() ? i + 1 : i)
                .toArray();
        return g.add(Transpose.of(permutation), result);
    }

    private static Value longs(OpBuilder g, long value) {
        return g.constant(NdArray.ofLongs(value).toConstant());
    }
}
