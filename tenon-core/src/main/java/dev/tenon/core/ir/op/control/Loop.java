package dev.tenon.core.ir.op.control;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Control;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Inline;
import dev.tenon.core.ir.rule.ResultTypes;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Runs a graph again and again: as many times as a number says, as long as a condition holds.
 *
 * <p>[times i64, condition bool, each one element of any rank; carried values; captured values] → [carried values after
 * the last iteration; scan outputs, those of all iterations stacked along a new first axis]. The body takes [iteration
 * i64 [], condition bool [], carried, captured] and gives [condition for the next iteration, carried, scan outputs].
 * Carried values keep their type, not always their shape; a scan output has one shape in all iterations. Without
 * iterations the carried values come out as they went in, and scan outputs are empty: their inner dims are those that
 * the body's rules tell for the operands, 0 where only values would tell. A loop whose condition never fails ends when
 * its thread is interrupted. ONNX Loop-21.
 *
 * @param carried how many values are carried
 */
public record Loop(Graph body, int carried) implements Control {
    private static final int FIXED = 2;
    /** A loop of so few iterations is unrolled, unless that makes more nodes than the other bound. */
    private static final long UNROLLED_TIMES = 8;

    private static final long UNROLLED_NODES = 256;

    /** What drives a loop over values of some kind. */
    public interface Machine<T> {
        /** A scalar of 64 bits. */
        T number(long value);

        T flag(boolean value);

        long toLong(T value);

        TensorType type(T value);

        /** Runs the body once. */
        List<T> body(List<T> inputs);

        /**
         * Begins to gather one scan output.
         *
         * @param each the type of a part, as far as it is known before the first iteration
         * @param turns how many parts there will be; -1 where only the run can tell
         * @throws dev.tenon.core.error.OutOfMemoryException when so many parts of that type do not fit the memory limit
         */
        Stack<T> stack(TensorType each, long turns);
    }

    /** Gathers the values of one scan output along a new first axis. */
    public interface Stack<T> {
        void add(T part);

        /** All that was added; without any, an empty value whose unknown dims are 0. */
        T whole();
    }

    public Loop {
        int inputs = body.inputs().size();
        int outputs = body.outputs().size();
        if (carried < 0 || inputs < FIXED + carried || outputs < 1 + carried) {
            throw new ShapeException("loop: the body \"" + body.name() + "\" takes " + inputs + " values and gives "
                    + outputs + "; expected at least " + (FIXED + carried) + " and " + (1 + carried) + " for " + carried
                    + " carried ones");
        }
        if (!body.parameters().isEmpty()) {
            throw new ShapeException("loop: the body \"" + body.name() + "\" has parameters; expected inputs only");
        }
    }

    @Override
    public Arity arity() {
        return Arity.exactly(body.inputs().size());
    }

    private List<Value> results() {
        return List.copyOf(body.outputs().values());
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "times", inputs.get(0));
        Rules.require(mnemonic(), "condition", inputs.get(1), type -> type == DType.BOOL, "bool");
        Rules.require(mnemonic(), "condition of the body", results().getFirst().dtype(), DType.BOOL::equals, "bool");
        Expect.same(mnemonic(), "iteration", body.inputs().getFirst().dtype(), DType.I64);
        for (int i = 1; i < inputs.size(); i++) {
            Expect.same(
                    mnemonic(),
                    "input " + i,
                    inputs.get(i),
                    body.inputs().get(i).dtype());
        }
        for (int i = 0; i < carried; i++) {
            Expect.same(
                    mnemonic(),
                    "carried value " + i + " of the body",
                    results().get(1 + i).dtype(),
                    inputs.get(FIXED + i));
        }
        return results().stream().skip(1).map(Value::dtype).toList();
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Rules.single(mnemonic(), "times", inputs.get(0));
        Rules.single(mnemonic(), "condition", inputs.get(1));
        return told(inputs);
    }

    /** Results depend on the body more than on what goes in: they may have a rank where an input has none. */
    @Override
    public List<TensorType> infer(List<TensorType> inputs) {
        if (inputs.size() != arity().min()
                || inputs.stream().allMatch(type -> type.shape().isRanked())) {
            return Control.super.infer(inputs);
        }
        List<DType> dtypes = dtypes(inputs.stream().map(TensorType::dtype).toList());
        List<Shape> shapes = told(inputs.stream().map(TensorType::shape).toList());
        return IntStream.range(0, dtypes.size())
                .mapToObj(i -> new TensorType(dtypes.get(i), shapes.get(i)))
                .toList();
    }

    private List<Shape> told(List<Shape> inputs) {
        if (results().getFirst().shape().isRanked()) {
            Rules.single(
                    mnemonic(), "condition of the body", results().getFirst().shape());
        }
        List<Shape> shapes = new ArrayList<>();
        for (int i = FIXED; i < inputs.size(); i++) {
            Shape taken = body.inputs().get(i).shape();
            int input = i;
            Expect.shape(
                    inputs.get(i).mayEqual(taken),
                    mnemonic(),
                    () -> "input " + input + " " + inputs.get(input) + " is not what the body takes; expected "
                            + taken);
        }
        for (int i = 1; i < results().size(); i++) {
            Shape given = results().get(i).shape();
            if (i <= carried) {
                shapes.add(given.common(inputs.get(FIXED + i - 1)));
            } else {
                shapes.add(given.isRanked() ? Shape.of(Dim.unknown()).concat(given) : given);
            }
        }
        return shapes;
    }

    /** Drives the loop. The operands are those of the operation. */
    public <T> List<T> iterate(Machine<T> machine, List<T> operands) {
        long times = single(machine, "times", operands.get(0));
        boolean going = single(machine, "condition", operands.get(1)) != 0;
        List<T> state = operands.subList(FIXED, FIXED + carried);
        List<T> captured = operands.subList(FIXED + carried, operands.size());
        long turns = !going || times <= 0 ? 0 : holds(results().getFirst()) ? times : -1;
        List<Stack<T>> scans = new ArrayList<>();
        for (TensorType each : scanTypes(operands.stream().map(machine::type).toList())) {
            scans.add(machine.stack(each, turns));
        }
        for (long i = 0; going && i < times; i++) {
            if (Thread.currentThread().isInterrupted()) {
                throw new DataException(mnemonic() + ": interrupted after " + i + " of " + times + " iterations");
            }
            List<T> inputs = new ArrayList<>(List.of(machine.number(i), machine.flag(true)));
            inputs.addAll(state);
            inputs.addAll(captured);
            List<T> results = machine.body(inputs);
            going = single(machine, "condition of the body", results.getFirst()) != 0;
            state = results.subList(1, 1 + carried);
            for (int k = 0; k < scans.size(); k++) {
                scans.get(k).add(results.get(1 + carried + k));
            }
        }
        List<T> all = new ArrayList<>(state);
        scans.forEach(scan -> all.add(scan.whole()));
        return all;
    }

    private <T> long single(Machine<T> machine, String what, T value) {
        Shape shape = machine.type(value).shape();
        if (shape.isConcrete() && shape.elements() != 1) {
            throw new DataException(mnemonic() + ": " + what + " has shape " + shape + "; expected one element");
        }
        return machine.toLong(value);
    }

    /** What the body's rules tell of each scan output for operands of those types. */
    private List<TensorType> scanTypes(List<TensorType> operands) {
        List<TensorType> declared =
                results().stream().skip(1 + carried).map(Value::type).toList();
        if (declared.stream().allMatch(type -> type.shape().isConcrete())) {
            return declared;
        }
        List<TensorType> inputs = new ArrayList<>(
                body.inputs().subList(0, FIXED).stream().map(Value::type).toList());
        for (int i = FIXED; i < operands.size(); i++) {
            // a carried value may change its shape from one iteration to the next, a captured one cannot
            inputs.add(i < FIXED + carried ? body.inputs().get(i).type() : operands.get(i));
        }
        List<TensorType> told = ResultTypes.of(body, inputs);
        return told.subList(1 + carried, told.size());
    }

    /** The type of as many parts along a new first axis, unknown dims being 0. */
    public static TensorType stacked(TensorType each, long parts) {
        List<Dim> dims = new ArrayList<>(List.of(Dim.of(parts)));
        if (each.shape().isRanked()) {
            each.shape().dims().forEach(dim -> dims.add(dim.isFixed() ? dim : Dim.of(0)));
        }
        return new TensorType(each.dtype(), Shape.of(dims));
    }

    /** Whether a loop of that many times is better written out: it is short, and nothing but their number ends it. */
    public boolean unrolls(long times) {
        return times <= 0
                || (times <= UNROLLED_TIMES
                        && times * body.nodes().size() <= UNROLLED_NODES
                        && holds(results().getFirst())
                        && body.nodes().stream().noneMatch(Loop::holdsGraphs));
    }

    /** Loops in loops would multiply past any bound. */
    private static boolean holdsGraphs(Node node) {
        return node.op() instanceof Control || node.op() instanceof Scan || node.op() instanceof If;
    }

    private boolean holds(Value condition) {
        return condition.equals(body.inputs().get(1))
                || (condition.origin() instanceof Value.Origin.Constant(ConstantData data)
                        && NdArray.of(data).getLong(0) != 0);
    }

    /** The loop written out {@code times} times, where it {@link #unrolls}; the condition that it begins with holds. */
    public List<Value> unroll(OpBuilder g, List<Value> operands, long times) {
        Unrolled machine = new Unrolled(g, body);
        List<Value> fixed = new ArrayList<>(operands);
        fixed.set(0, machine.number(times));
        fixed.set(1, machine.flag(true));
        return iterate(machine, fixed);
    }

    /** Adds the body's nodes instead of running them. */
    private record Unrolled(OpBuilder g, Graph body) implements Machine<Value> {
        @Override
        public Value number(long value) {
            return g.constant(new ConstantData.Splat(TensorType.of(DType.I64), value));
        }

        @Override
        public Value flag(boolean value) {
            return g.constant(new ConstantData.Splat(TensorType.of(DType.BOOL), value ? 1 : 0));
        }

        /** Asked for the number of times, and for conditions that are known to hold. */
        @Override
        public long toLong(Value value) {
            return value.origin() instanceof Value.Origin.Constant(ConstantData data)
                    ? NdArray.of(data).getLong(0)
                    : 1;
        }

        @Override
        public List<Value> body(List<Value> inputs) {
            return Inline.graph(g, body, inputs);
        }

        @Override
        public TensorType type(Value value) {
            return value.type();
        }

        @Override
        public Stack<Value> stack(TensorType each, long turns) {
            return new Joined(g, each, new ArrayList<>());
        }
    }

    private record Joined(OpBuilder g, TensorType each, List<Value> parts) implements Stack<Value> {
        @Override
        public void add(Value part) {
            parts.add(part);
        }

        @Override
        public Value whole() {
            if (parts.isEmpty()) {
                TensorType empty = stacked(each, 0);
                return g.constant(new ConstantData.Splat(empty, Elements.fromLong(empty.dtype(), 0)));
            }
            Value first = g.constant(NdArray.ofLongs(0).toConstant());
            return g.add(
                    new Concat(0),
                    parts.stream()
                            .map(part -> g.add(new UnsqueezeAxes(), part, first))
                            .toArray(Value[]::new));
        }
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        return iterate(new ArrayMachine(body), inputs);
    }
}
