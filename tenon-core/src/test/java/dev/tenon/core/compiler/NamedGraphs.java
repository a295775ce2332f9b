package dev.tenon.core.compiler;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.filling.FillTo;
import dev.tenon.core.ir.op.filling.ShapeOf;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.ExpandTo;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.op.movement.ReshapeTo;
import dev.tenon.core.ir.op.movement.SliceBy;
import dev.tenon.core.ir.op.movement.UnsqueezeAxes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Seeded graphs over values of {@code [batch, length, 8]} whose shapes are computed inside the graph, as exporters
 * write it: reshapes to sizes read from other values, expansions, filled constants, slices of a table of positions.
 */
final class NamedGraphs {
    static final int WIDTH = 8;

    /** Rows of the table of positions, the greatest length of graphs that slice it. */
    static final int POSITIONS = 16;

    private final SplittableRandom random;
    private final GraphBuilder g;
    private final List<Value> values = new ArrayList<>();
    private final boolean positions;

    private NamedGraphs(long seed, boolean positions) {
        this.random = new SplittableRandom(seed);
        this.g = new GraphBuilder("named" + seed);
        this.positions = positions;
    }

    /** @param positions whether the graph slices a table of {@link #POSITIONS} rows */
    static Graph graph(long seed, boolean positions) {
        return new NamedGraphs(seed, positions).build();
    }

    static Map<String, TensorType> types(Graph graph, long batch, long length) {
        Map<String, TensorType> types = new LinkedHashMap<>();
        for (Value input : graph.inputs()) {
            types.put(input.name(), TensorType.of(DType.F32, batch, length, WIDTH));
        }
        return types;
    }

    private Graph build() {
        for (int i = 0; i < 2; i++) {
            values.add(g.input("x" + i, DType.F32, Dim.named("batch"), Dim.named("length"), Dim.of(WIDTH)));
        }
        if (positions) {
            Value x = any();
            Value rows = g.add(new SliceBy(true, false), table(), longs(0), size(x, 1), longs(0));
            values.add(g.add(x, rows));
        }
        int nodes = random.nextInt(3, 16);
        for (int i = 0; i < nodes; i++) {
            values.add(next());
        }
        g.output("y", values.getLast());
        g.output("z", any());
        return g.build();
    }

    private Value next() {
        Value x = any();
        return switch (random.nextInt(10)) {
            case 0 -> g.unary(random.nextBoolean() ? UnaryFn.TANH : UnaryFn.RELU, x);
            case 1 -> g.binary(random.nextBoolean() ? BinaryFn.ADD : BinaryFn.MUL, x, any());
            case 2 -> g.add(g.matmul(x, table(WIDTH, WIDTH)), table(WIDTH));
            case 3 -> heads(x);
            case 4 -> flat(x);
            case 5 -> g.add(new ReshapeTo(false), x, g.add(new Concat(0), longs(0, 0), longs(-1)));
            case 6 -> filled(x);
            case 7 -> norm(x);
            case 8 -> g.mul(x, expanded(x));
            default -> gelu(x);
        };
    }

    /** Split into heads by sizes of another value, transposed, and back by sizes of the result. */
    private Value heads(Value x) {
        Value other = any();
        Value split = g.add(new Concat(0), size(other, 0), size(other, 1), longs(2), longs(WIDTH / 2));
        Value heads = g.transpose(g.add(new ReshapeTo(false), x, split), 0, 2, 1, 3);
        Value back = g.transpose(g.unary(UnaryFn.NEG, heads), 0, 2, 1, 3);
        Value joined = g.add(new Concat(0), size(back, 0), size(back, 1), longs(WIDTH));
        return g.add(new ReshapeTo(false), back, joined);
    }

    /** One row a token, by a product of sizes or -1, and back. */
    private Value flat(Value x) {
        Value tokens = random.nextBoolean() ? g.mul(size(x, 0), size(x, 1)) : longs(-1);
        Value rows = g.add(new ReshapeTo(false), x, g.add(new Concat(0), tokens, longs(WIDTH)));
        Value product = g.matmul(rows, table(WIDTH, WIDTH));
        return g.add(new ReshapeTo(false), product, g.add(new ShapeOf(0, Long.MAX_VALUE), x));
    }

    private Value filled(Value x) {
        Value ones =
                g.add(new FillTo(NdArray.of(TensorType.of(DType.F32, 1), 1.0).toConstant()), sizes(x));
        return g.mul(x, ones);
    }

    private Value expanded(Value x) {
        Value column = g.reduce(ReduceFn.MEAN, x, true, 2);
        Value unsqueezed = g.add(new UnsqueezeAxes(), g.reduce(ReduceFn.MAX, x, false, 2), longs(-1));
        return g.add(new ExpandTo(), random.nextBoolean() ? column : unsqueezed, sizes(any()));
    }

    private Value norm(Value x) {
        Value d = g.sub(x, g.reduce(ReduceFn.MEAN, x, true, 2));
        Value variance = g.reduce(ReduceFn.MEAN, g.binary(BinaryFn.POW, d, g.scalar(DType.F32, 2)), true, 2);
        Value root = g.unary(UnaryFn.SQRT, g.add(variance, g.scalar(DType.F32, 1e-5)));
        return g.add(g.mul(g.div(d, root), table(WIDTH)), table(WIDTH));
    }

    private Value gelu(Value x) {
        Value erf = g.unary(UnaryFn.ERF, g.div(x, g.scalar(DType.F32, (float) Math.sqrt(2))));
        return g.mul(g.mul(x, g.add(erf, g.scalar(DType.F32, 1))), g.scalar(DType.F32, 0.5));
    }

    private Value sizes(Value x) {
        return g.add(new ShapeOf(0, Long.MAX_VALUE), x);
    }

    /** The size of an axis as a vector of one element. */
    private Value size(Value x, int axis) {
        Value scalar = g.add(
                new Gather(0),
                sizes(x),
                g.constant(NdArray.of(TensorType.of(DType.I64), axis).toConstant()));
        return g.add(Reshape.to(1), scalar);
    }

    private Value longs(long... numbers) {
        return g.constant(NdArray.ofLongs(numbers).toConstant());
    }

    private Value table(long... sizes) {
        Shape shape = sizes.length == 0 ? Shape.of(POSITIONS, WIDTH) : Shape.of(sizes);
        NdArray array = NdArray.zeros(new TensorType(DType.F32, shape));
        for (int i = 0; i < array.size(); i++) {
            array.set(i, (double) (float) random.nextDouble(-1, 1));
        }
        return g.constant(array.toConstant());
    }

    private Value any() {
        return values.get(random.nextInt(values.size()));
    }
}
