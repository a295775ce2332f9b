package dev.tenon.core.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RmsNorm;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * Seeded graphs of composites that a device may claim, between products, functions and residual additions, as in a
 * transformer. Every operation is continuous, so that f32 stays near the interpreter's float64.
 */
public final class ClaimedGraphs {
    /** What each block adds to the error of one operation, generously. */
    private static final int LENGTH = 20_000;

    private static final int[] BATCHES = {1, 2, 3};
    private static final int[] TOKENS = {1, 2, 5, 17};
    private static final int[] HEADS = {1, 2, 3};
    private static final int[] COLUMNS = {1, 7, 33, 64, 100, 257, 1024};
    private static final int[] HEAD_SIZES = {1, 4, 8, 20};

    private final SplittableRandom random;
    private final GraphBuilder g;
    private final long batch;
    private final long tokens;
    private final long heads;
    private final long head;
    private final List<Value> values = new ArrayList<>();

    private ClaimedGraphs(long seed) {
        random = new SplittableRandom(seed);
        g = new GraphBuilder("claimed" + seed);
        batch = pick(BATCHES);
        tokens = pick(TOKENS);
        heads = pick(HEADS);
        head = pick(HEAD_SIZES);
    }

    /**
     * Runs the graphs of the seeds from 0 on an engine and compares the results with the interpreter's.
     *
     * @return how often each operation ran as one step
     */
    public static Map<String, Integer> check(Engine engine, int seeds) {
        return check(engine, seeds, WeightType.UNCHANGED, seed -> new ClaimedGraphs(seed).build());
    }

    /** The same with weights kept in 16 bits, to what few steps of these come to. */
    public static Map<String, Integer> checkHalves(Engine engine, int seeds, WeightType weights) {
        return check(engine, seeds, weights, seed -> new ClaimedGraphs(seed).build());
    }

    /**
     * The same for graphs of operations along rows between elementwise ones.
     *
     * @param elements of a value, at least
     */
    public static Map<String, Integer> checkRows(Engine engine, int seeds, long elements) {
        return check(engine, seeds, WeightType.UNCHANGED, seed -> rows(seed, elements));
    }

    private static Map<String, Integer> check(
            Engine engine, int seeds, WeightType weights, LongFunction<Graph> graphs) {
        Map<String, Integer> steps = new TreeMap<>();
        CompileOptions strict =
                CompileOptions.defaults().withPrecision(Precision.STRICT).withWeightType(weights);
        Tolerance tolerance = tolerance(weights);
        for (long seed = 0; seed < seeds; seed++) {
            Graph graph = graphs.apply(seed);
            Map<String, NdArray> given = inputs(graph, seed);
            Map<String, NdArray> expected = Interpreter.run(graph, given);
            Map<String, Tensor> tensors = new LinkedHashMap<>();
            given.forEach((name, array) -> tensors.put(name, tensor(array)));
            try (CompiledModel model = engine.compile(graph, Weights.none(), strict);
                    Session session = model.newSession()) {
                Map<String, Tensor> actual = session.run(tensors);
                assertThat(actual.keySet()).isEqualTo(expected.keySet());
                actual.forEach((name, tensor) -> tolerance.check(
                        graph.toString(), expected.get(name), NdArray.read(tensor.type(), tensor.segment())));
                model.report()
                        .plans()
                        .forEach(plan -> plan.steps().forEach(step -> steps.merge(step.op(), 1, Integer::sum)));
            }
        }
        return steps;
    }

    private static Tolerance tolerance(WeightType weights) {
        return switch (weights) {
            case UNCHANGED -> Tolerance.of(DType.F32, LENGTH);
            case F16 -> new Tolerance(0.03, 0.03);
            case BF16 -> new Tolerance(0.2, 0.2);
        };
    }

    private static Tensor tensor(NdArray array) {
        Tensor tensor = Tensor.zeros(array.type());
        array.write(tensor.segment());
        return tensor;
    }

    /** Numbers of magnitude around 1; a NaN in one graph of four. */
    private static Map<String, NdArray> inputs(Graph graph, long seed) {
        SplittableRandom random = new SplittableRandom(~seed);
        Map<String, NdArray> inputs = new LinkedHashMap<>();
        for (Value input : graph.inputs()) {
            NdArray array = numbers(random, input.type());
            if (seed % 4 == 3) {
                array.set(random.nextInt(array.size()), Double.NaN);
            }
            inputs.put(input.name(), array);
        }
        return inputs;
    }

    private static NdArray numbers(SplittableRandom random, TensorType type) {
        NdArray array = NdArray.zeros(type);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (float) random.nextDouble(-1, 1));
        }
        return array;
    }

    private Graph build() {
        for (int i = 0; i < 2; i++) {
            values.add(g.input("x" + i, TensorType.of(DType.F32, batch, tokens, heads * head)));
        }
        int blocks = random.nextInt(2, 6);
        for (int i = 0; i < blocks; i++) {
            block();
        }
        g.output("y", values.getLast());
        g.output("z", any());
        return g.build();
    }

    /** Softmaxes, norms and reductions of rows between elementwise operations, some of which others read too. */
    public static Graph rows(long seed, long elements) {
        ClaimedGraphs graph = new ClaimedGraphs(seed);
        long cols = graph.pick(COLUMNS);
        long[] sizes = {2, Math.ceilDiv(elements, 2 * cols), cols};
        Value x = graph.g.input("x", TensorType.of(DType.F32, sizes));
        graph.values.add(graph.g.input("like", TensorType.of(DType.F32, sizes)));
        graph.values.add(graph.g.input("masks", TensorType.of(DType.F32, 2, 1, cols)));
        graph.values.add(graph.constant(1, sizes[1], 1));
        graph.values.add(graph.constant(cols));
        graph.values.add(graph.constant());
        for (int part = graph.random.nextInt(1, 4); part > 0; part--) {
            x = graph.along(graph.elementwise(x), cols);
            x = graph.elementwise(graph.random.nextBoolean() ? graph.g.unary(UnaryFn.TANH, x) : x);
            x = graph.g.add(x, graph.values.getFirst()); // a reduction's result is broadcast
            if (graph.random.nextInt(4) == 0) {
                graph.g.output("part" + part, x);
            }
        }
        graph.g.output("y", x);
        return graph.g.build();
    }

    private Value elementwise(Value x) {
        Value y = x;
        for (int step = random.nextInt(3); step >= 0; step--) {
            Value other = values.get(random.nextInt(values.size()));
            y = switch (random.nextInt(6)) {
                case 0 -> g.unary(UnaryFn.TANH, y);
                case 1 -> g.unary(UnaryFn.SIGMOID, y);
                case 2 -> g.mul(y, other);
                case 3 -> g.sub(other, y);
                default -> g.add(y, other);
            };
        }
        return y;
    }

    private Value along(Value x, long cols) {
        return switch (random.nextInt(6)) {
            case 0 -> g.add(new LayerNorm(2, 0.1, true, true), x, constant(cols), constant(cols));
            case 1 -> g.add(new LayerNorm(2, 0.1, false, false), x);
            case 2 -> g.add(new RmsNorm(2, 0.1, true), x, constant(cols));
            case 3 -> g.add(new Softmax(2), x);
            case 4 -> g.add(new LogSoftmax(2), x);
            default -> g.add(new Reduce(random.nextBoolean() ? ReduceFn.MEAN : ReduceFn.MAX, List.of(2), true), x);
        };
    }

    private void block() {
        Value x = any();
        switch (random.nextInt(6)) {
            case 0, 1 -> values.add(attention(x));
            case 2, 3 -> values.addAll(norm(x));
            case 4 -> values.add(gated(x));
            default -> values.add(g.unary(random.nextBoolean() ? UnaryFn.TANH : UnaryFn.GELU, product(x, 1)));
        }
    }

    private Value attention(Value x) {
        boolean mask = random.nextBoolean();
        double scale = 1 / Math.sqrt((double) head);
        List<Value> operands = new ArrayList<>();
        boolean packed = random.nextBoolean();
        if (packed) {
            Value all = g.reshape(product(x, 3), batch, tokens, 3 * heads, head);
            boolean rotated = head % 2 == 0 && random.nextBoolean();
            operands.add(g.reshape(rotated ? rotated(all) : all, batch, tokens, 3, heads, head));
        } else {
            for (int i = 0; i < 3; i++) {
                Value operand = i == 0 ? x : any();
                operands.add(
                        g.reshape(random.nextBoolean() ? operand : product(operand, 1), batch, tokens, heads, head));
            }
        }
        if (mask) {
            operands.add(constant(batch, 1, random.nextBoolean() ? 1 : tokens, tokens));
        }
        Value y = g.addAll(new PlainAttention(mask, packed, scale, random.nextBoolean()), operands)
                .getFirst();
        return g.reshape(y, batch, tokens, heads * head);
    }

    /** Heads of queries and keys, each token by its own angles. */
    private Value rotated(Value all) {
        Value angles = constant(1, tokens, 1, head / 2);
        Value cos = g.unary(UnaryFn.COS, angles);
        return g.add(new Rope(false, 0, 2 * heads), all, cos, g.unary(UnaryFn.SIN, angles));
    }

    private List<Value> norm(Value x) {
        boolean centred = random.nextBoolean();
        List<Value> operands = new ArrayList<>(List.of(x, any(), constant(heads * head)));
        if (centred) {
            operands.add(constant(heads * head));
        }
        // an epsilon that keeps rows of equal elements from amplifying rounding errors
        return g.addAll(new ResidualNorm(centred, random.nextBoolean(), 2, 0.1), operands);
    }

    private Value gated(Value x) {
        Unary activation = random.nextBoolean() ? Unary.silu() : Unary.of(UnaryFn.GELU);
        return g.addAll(new GatedUnit(activation, random.nextBoolean()), List.of(product(x, 2)))
                .getFirst();
    }

    private Value product(Value x, int parts) {
        Value weight = constant(heads * head, parts * heads * head);
        return g.matmul(x, g.mul(weight, 1 / Math.sqrt((double) heads * head)));
    }

    private Value constant(long... sizes) {
        return g.constant(numbers(random, TensorType.of(DType.F32, sizes)).toConstant());
    }

    private Value any() {
        return values.get(random.nextInt(values.size()));
    }

    private int pick(int... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
