package dev.tenon.core.compiler.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.image.CoordinateMode;
import dev.tenon.core.ir.op.image.NearestMode;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.core.ir.op.image.ResizeMode;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.movement.Slice;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.InstanceNorm;
import dev.tenon.core.ir.op.normalisation.LocalResponseNorm;
import dev.tenon.core.ir.op.normalisation.LogSoftmax;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.core.testkit.plan.Planned;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ChannelsLastTest {
    private static final Predicate<Node> CLAIMED = node -> node.op() instanceof ChannelsLastConv;

    private static Value conv(GraphBuilder g, Seeded random, Value x, long channels, long outputs, long kernel) {
        long pad = kernel / 2;
        Conv op = new Conv(
                List.of(1L, 1L), List.of(pad, pad), List.of(pad, pad), List.of(1L, 1L), 1, Epilogue.NONE.withBias());
        Value w = g.constant(
                random.array(DType.F32, outputs, channels, kernel, kernel).toConstant());
        Value bias = g.constant(random.array(DType.F32, outputs).toConstant());
        return g.add("", op, List.of(x, w, bias)).getFirst();
    }

    /** Bit 0: a product of single cells; bit 1: a branch; bit 2: channel factors; bit 3: kept dims of the mean. */
    private static Graph chain(int form) {
        Seeded random = new Seeded(form);
        return GraphBuilder.build("chain", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6));
            Value y = g.unary(UnaryFn.RELU, conv(g, random, x, 4, 8, 3));
            y = g.unary(UnaryFn.TANH, conv(g, random, y, 8, 8, (form & 1) != 0 ? 1 : 3));
            if ((form & 2) != 0) {
                Value other = conv(g, random, y, 8, 8, 3);
                y = g.add(new Concat(1), g.add(new Binary(BinaryFn.ADD), other, y), y);
                y = conv(g, random, y, 16, 8, 1);
            }
            if ((form & 4) != 0) {
                Value factors = g.constant(random.array(DType.F32, 8, 1, 1).toConstant());
                y = g.add(new Binary(BinaryFn.MUL), y, factors);
            }
            y = conv(g, random, y, 8, 8, 3);
            g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), (form & 8) != 0), y));
        });
    }

    private static long count(Graph graph, Class<? extends Op> kind) {
        return graph.nodes().stream().filter(node -> kind.isInstance(node.op())).count();
    }

    private static Value patches(GraphBuilder g, Seeded random, Value x, long channels, long outputs, long kernel) {
        List<Long> none = List.of(0L, 0L);
        Conv op = new Conv(List.of(kernel, kernel), none, none, List.of(1L, 1L), 1, Epilogue.NONE.withBias());
        Value w = g.constant(
                random.array(DType.F32, outputs, channels, kernel, kernel).toConstant());
        Value bias = g.constant(random.array(DType.F32, outputs).toConstant());
        return g.add("", op, List.of(x, w, bias)).getFirst();
    }

    @Test
    void placesOfMaximaAreThoseOfTheOtherLayout() {
        Seeded random = new Seeded(6);
        List<Long> twos = List.of(2L, 2L);
        List<Long> ones = List.of(1L, 1L);
        Graph graph = GraphBuilder.build("places", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6));
            Value y = conv(g, random, conv(g, random, x, 4, 8, 3), 8, 8, 3);
            MaxPoolIndices pool = new MaxPoolIndices(List.of(3L, 3L), twos, ones, ones, ones, false, false);
            List<Value> results = g.add("", pool, List.of(y));
            g.output(
                    "y",
                    g.add(
                            new Reduce(ReduceFn.MEAN, List.of(2, 3), false),
                            conv(g, random, results.getFirst(), 8, 8, 3)));
            g.output("places", results.getLast());
        });
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(count(turned, Transpose.class)).as("%s", turned).isEqualTo(2); // x, and the places
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        Map<String, NdArray> expected = Interpreter.run(graph, inputs);
        Map<String, NdArray> actual = Interpreter.run(turned, inputs);
        Tolerance.of(DType.F32, 200).check("y", expected.get("y"), actual.get("y"));
        Tolerance.EXACT.check("places", expected.get("places"), actual.get("places"));
    }

    /** Norms by channel, by group and over neighbours, between convolutions. */
    @Test
    void normsKeepTheLayout() {
        Seeded random = new Seeded(4);
        Graph graph = GraphBuilder.build("norms", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6));
            Value scale = g.constant(random.array(DType.F32, 8).toConstant());
            Value y = conv(g, random, x, 4, 8, 3);
            y = g.add("", new InstanceNorm(1e-5), List.of(y, scale, scale)).getFirst();
            y = conv(g, random, y, 8, 8, 3);
            y = g.add("", new GroupNorm(2, 1e-5), List.of(y, scale, scale)).getFirst();
            y = conv(g, random, g.unary(UnaryFn.RELU, y), 8, 8, 3);
            y = g.add("", new LocalResponseNorm(3, 0.5, 0.75, 2), List.of(y)).getFirst();
            y = conv(g, random, y, 8, 8, 3);
            g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), false), y));
        });
        Graph turned = Planned.graph(graph, node -> node.op() instanceof Claimable);
        assertThat(count(turned, ChannelsLastNorm.class)).as("%s", turned).isEqualTo(2);
        assertThat(count(turned, Transpose.class)).as("%s", turned).isEqualTo(1);
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        same(graph, turned, inputs, 400);
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 9})
    void windowsThatTileAnImageAreProducts(long channels) {
        Seeded random = new Seeded(channels);
        Graph graph = GraphBuilder.build("patches", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, channels, 16, 24));
            Value y = patches(g, random, x, channels, 8, 4);
            y = conv(g, random, g.unary(UnaryFn.TANH, y), 8, 8, 3);
            y = g.unary(UnaryFn.TANH, patches(g, random, y, 8, 16, 2));
            g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), false), y));
        });
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(count(turned, MatMul.class)).as("%s", turned).isEqualTo(2);
        assertThat(count(turned, Transpose.class)).as("%s", turned).isEqualTo(2);
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, channels, 16, 24));
        same(graph, turned, inputs, 200);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 15})
    void layoutChangesAtTheEdgesOnly(int form) {
        Graph graph = chain(form);
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(count(turned, Conv.class)).as("%s", turned).isZero();
        assertThat(count(turned, Transpose.class)).as("%s", turned).isLessThanOrEqualTo((form & 8) != 0 ? 2 : 1);
        assertThat(count(turned, MatMul.class)).isEqualTo((form & 1) + ((form & 2) != 0 ? 1 : 0));
        Map<String, NdArray> inputs = Map.of("x", new Seeded(form + 50).array(DType.F32, 2, 4, 7, 6));
        same(graph, turned, inputs, 200);
    }

    @Test
    void shufflesOfChannelsKeepThemInnermost() {
        Seeded random = new Seeded(3);
        Graph graph = GraphBuilder.build("shuffle", g -> {
            Value y = conv(g, random, g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6)), 4, 12, 3);
            y = g.add(new Transpose(List.of(0, 2, 1, 3, 4)), g.reshape(y, 2, 3, 4, 7, 6));
            y = conv(g, random, g.reshape(y, 2, 12, 7, 6), 12, 8, 3);
            g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), false), y));
        });
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(turned.nodes().stream()
                        .filter(node -> node.op() instanceof Transpose)
                        .map(node -> ((Transpose) node.op()).permutation()))
                .as("%s", turned)
                .containsExactly(ChannelsLastConv.last(4), List.of(0, 1, 2, 4, 3));
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        same(graph, turned, inputs, 200);
    }

    /** Rows and columns of all images' channels together only look like a shuffle. */
    @Test
    void channelsOfSeveralImagesAreNotShuffled() {
        Seeded random = new Seeded(4);
        Graph graph = GraphBuilder.build("images", g -> {
            Value y = conv(g, random, g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6)), 4, 12, 3);
            y = g.add(new Transpose(List.of(0, 2, 1, 3, 4)), g.reshape(y, 1, 6, 4, 7, 6));
            g.output("y", conv(g, random, g.reshape(y, 2, 12, 7, 6), 12, 8, 3));
        });
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        same(graph, Planned.graph(graph, CLAIMED), inputs, 200);
    }

    /** An operation that goes by axes, between two convolutions. */
    private static Value between(GraphBuilder g, String what, Value y) {
        List<Long> none = List.of(0L, 0L, 0L, 0L);
        return switch (what) {
            case "maximum" -> g.add(pool(PoolFn.MAX, 1, false), y);
            case "average" -> g.add(pool(PoolFn.AVERAGE, 1, true), y);
            case "norm" -> g.add(pool(PoolFn.LP, 0, false), y);
            case "pad" -> g.add(new Pad(PadMode.REFLECT, none, List.of(0L, 0L, 2L, 1L)), y);
            case "slice" ->
                g.add(new Slice(List.of(0L, 1L, 0L, 2L), List.of(2L, 4L, 7L, 3L), List.of(1L, 1L, 1L, 1L)), y);
            case "softmax" -> g.add(new Softmax(1), y);
            case "log_softmax" -> g.add(new LogSoftmax(2), y);
            case "resize" -> g.add(resize(ResizeMode.LINEAR, CoordinateMode.HALF_PIXEL, List.of()), y);
            case "crop" ->
                g.add(
                        resize(
                                ResizeMode.NEAREST,
                                CoordinateMode.TF_CROP_AND_RESIZE,
                                List.of(0.0, 0.0, 0.1, 0.3, 1.0, 1.0, 0.9, 0.8)),
                        y);
            case "turned" -> {
                Value last = g.add(new Transpose(ChannelsLastConv.last(4)), y);
                yield g.add(new Transpose(ChannelsLastConv.first(4)), g.add(new Softmax(3), last));
            }
            default -> throw new AssertionError(what);
        };
    }

    private static Pool pool(PoolFn fn, long pad, boolean countPadding) {
        return new Pool(
                fn,
                List.of(3L, 2L),
                List.of(2L, 1L),
                List.of(pad, pad),
                List.of(pad, 0L),
                List.of(1L, 1L),
                false,
                countPadding,
                2);
    }

    private static Resize resize(ResizeMode mode, CoordinateMode coordinates, List<Double> roi) {
        return new Resize(
                mode,
                coordinates,
                NearestMode.FLOOR,
                -0.75,
                false,
                0.5,
                false,
                List.of(1.0, 1.0, 2.0, 1.5),
                List.of(2L, 8L, 14L, 9L),
                roi);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "maximum",
                "average",
                "norm",
                "pad",
                "slice",
                "softmax",
                "log_softmax",
                "resize",
                "crop",
                "turned"
            })
    void operationBetweenConvolutionsKeepsTheLayout(String what) {
        Seeded random = new Seeded(what.hashCode());
        Graph graph = GraphBuilder.build("between", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6));
            Value y = between(g, what, conv(g, random, conv(g, random, x, 4, 4, 3), 4, 8, 3));
            y = conv(g, random, y, y.shape().size(1), 8, 3);
            g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), false), y));
        });
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(count(turned, Conv.class)).as("%s", turned).isZero();
        assertThat(count(turned, Transpose.class)).as("%s", turned).isEqualTo(1);
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        Tolerance.of(DType.F32, 200)
                .check(
                        what,
                        Interpreter.run(graph, inputs).get("y"),
                        Interpreter.run(turned, inputs).get("y"));
    }

    @Test
    void residualBeforeTheActivationStaysInTheConvolution() {
        Seeded random = new Seeded(3);
        Graph graph = GraphBuilder.build("residual", g -> {
            Value x = conv(g, random, g.input("x", TensorType.of(DType.F32, 2, 4, 7, 6)), 4, 8, 3);
            Value y = conv(g, random, g.unary(UnaryFn.RELU, x), 8, 8, 3);
            y = g.unary(UnaryFn.RELU, g.add(new Binary(BinaryFn.ADD), conv(g, random, y, 8, 8, 1), x));
            g.output("y", g.add(new Reduce(ReduceFn.MAX, List.of(2, 3), false), y));
        });
        Graph turned = Planned.graph(graph, CLAIMED);
        assertThat(turned.toString()).contains("residual=true, residual_first=true");
        assertThat(count(turned, ChannelsLastConv.class)).as("%s", turned).isEqualTo(3);
        Map<String, NdArray> inputs = Map.of("x", random.array(DType.F32, 2, 4, 7, 6));
        same(graph, turned, inputs, 200);
    }

    @Test
    void singleConvolutionStaysAsItIs() {
        Graph graph = GraphBuilder.build("single", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, 4, 7, 6));
            g.output("y", conv(g, new Seeded(1), x, 4, 8, 3));
        });
        assertThat(count(Planned.graph(graph, CLAIMED), Conv.class)).isEqualTo(1);
    }

    /** @param depth how many elements a sum has */
    private static void same(Graph graph, Graph turned, Map<String, NdArray> inputs, int depth) {
        Tolerance.of(DType.F32, depth)
                .check(
                        "turned",
                        Interpreter.run(graph, inputs).get("y"),
                        Interpreter.run(turned, inputs).get("y"));
    }
}
