package dev.tenon.cli.bench;

import dev.tenon.core.build.ConvOptions;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.build.PoolOptions;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/** Models whose time depends on how their steps reach the device. */
final class ModeModels {
    private static final long CHANNELS = 256;

    private ModeModels() {}

    /** So many steps of 64 numbers, each after the one before. */
    static Graph chain(int steps) {
        return GraphBuilder.build("chain", g -> {
            Value x = g.input("x", DType.F32, Dim.of(64));
            for (int i = 0; i < steps; i++) {
                x = g.unary(i % 2 == 0 ? UnaryFn.NEG : UnaryFn.ABS, x);
            }
            g.output("y", x);
        });
    }

    /** Blocks of four branches as in Inception: 1x1; 1x1 and 3x3; 1x1 and 5x5; a pool and 1x1; then all channels. */
    static Graph inception(int blocks, long side) {
        return GraphBuilder.build("inception", g -> {
            Random random = new Random(18);
            Value x = g.input("x", TensorType.of(DType.F32, 1, CHANNELS, side, side));
            for (int i = 0; i < blocks; i++) {
                Value straight = conv(g, random, x, 64, 1);
                Value three = conv(g, random, conv(g, random, x, 96, 1), 128, 3);
                Value five = conv(g, random, conv(g, random, x, 16, 1), 32, 5);
                Value pooled = conv(
                        g,
                        random,
                        g.maxPool(x, PoolOptions.of(3, 3).withStrides(1, 1).withPadding(1, 1)),
                        32,
                        1);
                x = g.concat(List.of(straight, three, five, pooled), 1);
            }
            g.output("y", x);
        });
    }

    private static Value conv(GraphBuilder g, Random random, Value x, long outputs, long kernel) {
        long inputs = x.shape().size(1);
        TensorType type = TensorType.of(DType.F32, outputs, inputs, kernel, kernel);
        MemorySegment elements = HostMemory.allocate(type.bytes(), 64);
        double scale = Math.sqrt(2.0 / (inputs * kernel * kernel));
        for (long i = 0; i < type.shape().elements(); i++) {
            Elements.setDouble(DType.F32, elements, i, random.nextGaussian() * scale);
        }
        Value weights = g.constant(new ConstantData.Dense(type, elements));
        long pad = kernel / 2;
        return g.unary(UnaryFn.RELU, g.conv(x, weights, ConvOptions.defaults().withPadding(pad, pad)));
    }

    /** Numbers for the only input of a graph. */
    static Tensor input(Graph graph) {
        TensorType type = graph.inputs().getFirst().type();
        long count = type.shape().elements();
        return Tensor.of(
                DType.F32,
                new SplittableRandom(5).doubles(count, -1, 1).toArray(),
                type.shape().sizes());
    }
}
