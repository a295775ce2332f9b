package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.WeightType;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Seeded;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A small network like ConvNeXt: its layout changes at its edges only, and its steps are the expected ones. */
class VisionGraphTest {
    private static final List<Integer> LAST = List.of(0, 2, 3, 1);
    private static final List<Integer> FIRST = List.of(0, 3, 1, 2);
    private static final long CHANNELS = 16;

    private final Seeded random = new Seeded(7);

    @ParameterizedTest
    @EnumSource(WeightType.class)
    void layoutChangesAtTheEdgesOnly(WeightType weights) {
        Harness.require();
        Graph graph = GraphBuilder.build("vision", this::network);
        NdArray x = new Seeded(8).array(DType.F32, 2, 3, 24, 24);
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        Tensor tensor = Tensor.zeros(x.type());
        x.write(tensor.segment());
        try (Engine engine = Engine.open(new EmulatorBackend(), 0, EngineOptions.defaults());
                CompiledModel model = engine.compile(
                        graph, Weights.none(), CompileOptions.defaults().withWeightType(weights));
                Session session = model.newSession()) {
            Tensor y = session.run(Map.of("x", tensor)).get("y");
            List<String> tiers = model.report().plans().getFirst().steps().stream()
                    .map(step -> step.op() + ": " + step.tier())
                    .toList();
            assertThat(tiers)
                    .anyMatch(tier -> tier.contains("conv_depthwise_strip_k7s1"))
                    .anyMatch(tier -> tier.contains("channel_norm"));
            if (weights != WeightType.UNCHANGED) { // else these are parts of resident launches
                assertThat(tiers)
                        .anyMatch(tier -> tier.contains("layernorm_short"))
                        .anyMatch(tier -> tier.contains("bias, residual"));
            }
            assertThat(tiers.stream().filter(tier -> tier.startsWith("transpose")))
                    .as("%s", tiers)
                    .hasSize(2); // windows of the picture and of the image in the middle
            double error = error(expected, NdArray.read(y.type(), y.segment()));
            assertThat(error).isLessThan(weights == WeightType.BF16 ? 0.03 : 0.004);
        }
    }

    private static double error(NdArray expected, NdArray actual) {
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < expected.size(); i++) {
            difference += Math.pow(expected.get(i) - actual.get(i), 2);
            norm += Math.pow(expected.get(i), 2);
        }
        return Math.sqrt(difference / norm);
    }

    private void network(GraphBuilder g) {
        Value x = g.input("x", TensorType.of(DType.F32, 2, 3, 24, 24));
        Value y = conv(g, x, 3, CHANNELS, 4, 4, 1);
        y = one(g, new Transpose(FIRST), norm(g, one(g, new Transpose(LAST), y)));
        for (int i = 0; i < 2; i++) {
            y = g.add(new Binary(BinaryFn.ADD), block(g, y), y);
        }
        Value ones = vector(g, CHANNELS);
        y = one(g, new GroupNorm(4, 1e-5), y, ones, ones);
        y = conv(g, g.unary(UnaryFn.RELU, y), CHANNELS, 24, 2, 2, 1);
        y = conv(g, y, 24, 24, 3, 1, 1);
        g.output("y", g.add(new Reduce(ReduceFn.MEAN, List.of(2, 3), false), y));
    }

    private Value block(GraphBuilder g, Value x) {
        Value y = one(g, new Transpose(LAST), conv(g, x, CHANNELS, CHANNELS, 7, 1, CHANNELS));
        y = g.unary(UnaryFn.GELU, product(g, norm(g, y), CHANNELS, 64));
        y = one(g, new Transpose(FIRST), product(g, y, 64, CHANNELS));
        Value scale =
                g.constant(random.floats(DType.F32, 0.25, 1, CHANNELS, 1, 1).toConstant());
        return g.add(new Binary(BinaryFn.MUL), scale, y);
    }

    private Value norm(GraphBuilder g, Value x) {
        return one(g, new LayerNorm(3, 1e-5, true, true), x, vector(g, CHANNELS), vector(g, CHANNELS));
    }

    private Value product(GraphBuilder g, Value x, long from, long to) {
        double bound = 1 / Math.sqrt((double) from);
        Value w = g.constant(random.floats(DType.F32, -bound, bound, from, to).toConstant());
        Value y = one(g, new MatMul(false, false, Epilogue.NONE), x, w);
        return g.add(new Binary(BinaryFn.ADD), vector(g, to), y);
    }

    private Value conv(GraphBuilder g, Value x, long from, long to, long kernel, long stride, long groups) {
        long pad = stride == 1 ? kernel / 2 : 0;
        Conv op = new Conv(
                List.of(stride, stride),
                List.of(pad, pad),
                List.of(pad, pad),
                List.of(1L, 1L),
                groups,
                Epilogue.NONE.withBias());
        double bound = 1 / Math.sqrt((double) (from / groups * kernel * kernel));
        Value w = g.constant(random.floats(DType.F32, -bound, bound, to, from / groups, kernel, kernel)
                .toConstant());
        return one(g, op, x, w, vector(g, to));
    }

    private Value vector(GraphBuilder g, long size) {
        return g.constant(random.floats(DType.F32, 0.25, 1, size).toConstant());
    }

    private static Value one(GraphBuilder g, Op op, Value... operands) {
        return g.add("", op, List.of(operands)).getFirst();
    }
}
