package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.elementwise.Copy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Seeded graphs over f32 matrices that reach every pass: shared values, views, broadcasts, constants worth folding,
 * matrix products with bias and activation, dead nodes, outputs that alias.
 */
public final class RandomGraphs {
    private static final int[] SIZES = {1, 2, 3, 5};

    private final SplittableRandom random;
    private final GraphBuilder g;
    private final List<Value> values = new ArrayList<>();

    private RandomGraphs(long seed) {
        this.random = new SplittableRandom(seed);
        this.g = new GraphBuilder("random" + seed);
    }

    public static Graph graph(long seed) {
        return new RandomGraphs(seed).build();
    }

    /** Inputs for a graph, NaN and infinities among them now and then. */
    public static Map<String, NdArray> inputs(Graph graph, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, NdArray> inputs = new LinkedHashMap<>();
        for (Value input : graph.inputs()) {
            NdArray array = NdArray.zeros(input.type());
            for (int i = 0; i < array.size(); i++) {
                int odd = random.nextInt(40);
                array.set(
                        i,
                        odd == 0
                                ? Double.NaN
                                : odd == 1
                                        ? Double.NEGATIVE_INFINITY
                                        : odd == 2 ? -0.0 : (float) random.nextDouble(-2, 2));
            }
            inputs.put(input.name(), array);
        }
        return inputs;
    }

    private Graph build() {
        for (int i = 0; i < 3; i++) {
            values.add(g.input("x" + i, new TensorType(DType.F32, Shape.of(size(), size()))));
        }
        int nodes = random.nextInt(4, 28);
        for (int i = 0; i < nodes; i++) {
            values.add(next());
        }
        int outputs = random.nextInt(1, 5);
        for (int i = 0; i < outputs; i++) {
            g.output("y" + i, any());
        }
        return g.build();
    }

    private Value next() {
        Value x = any();
        return switch (random.nextInt(14)) {
            case 0 ->
                g.unary(pick(UnaryFn.RELU, UnaryFn.NEG, UnaryFn.SIGMOID, UnaryFn.TANH, UnaryFn.GELU, UnaryFn.SQRT), x);
            case 1 -> g.binary(pick(BinaryFn.ADD, BinaryFn.SUB, BinaryFn.MUL, BinaryFn.MAX, BinaryFn.DIV), x, alike(x));
            case 2 -> g.binary(pick(BinaryFn.ADD, BinaryFn.MUL, BinaryFn.SUB), x, x);
            case 3 ->
                g.binary(
                        pick(BinaryFn.MUL, BinaryFn.DIV, BinaryFn.SUB, BinaryFn.ADD, BinaryFn.POW),
                        x,
                        g.scalar(DType.F32, pick(0.0, 1.0, 2.0, -0.0)));
            case 4 -> g.add(x, constant(1, x.shape().size(1)));
            case 5 -> g.add(x, constant(x.shape().size(1)));
            case 6, 7 -> g.matmul(x, constant(x.shape().size(1), size()));
            case 8 -> g.matmul(x, g.transpose(alike(x), 1, 0));
            case 9 -> g.transpose(x, 1, 0);
            case 10 -> g.reshape(x, x.shape().size(1), x.shape().size(0));
            case 11 -> g.where(g.compare(CompareFn.GT, x, alike(x)), x, alike(x));
            case 12 -> g.reduce(pick(ReduceFn.SUM, ReduceFn.MAX, ReduceFn.MEAN), x, true, random.nextInt(2));
            default -> random.nextBoolean() ? g.add(new Copy(), x) : g.softmax(x, 1);
        };
    }

    @SafeVarargs
    private <T> T pick(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private long size() {
        return SIZES[random.nextInt(SIZES.length)];
    }

    private Value any() {
        return values.get(random.nextInt(values.size()));
    }

    /** A value of the same shape, the value itself if there is no other. */
    private Value alike(Value x) {
        List<Value> candidates =
                values.stream().filter(value -> value.shape().equals(x.shape())).toList();
        return candidates.get(random.nextInt(candidates.size()));
    }

    private Value constant(long... sizes) {
        NdArray array = NdArray.zeros(DType.F32, sizes);
        boolean splat = random.nextInt(4) == 0;
        double first = random.nextDouble(-1, 1);
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (double) (float) (splat ? first : random.nextDouble(-1, 1)));
        }
        return g.constant(array.toConstant());
    }
}
