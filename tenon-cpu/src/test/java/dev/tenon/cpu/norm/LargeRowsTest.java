package dev.tenon.cpu.norm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.backend.Device;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.device.CpuBackend;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums so long that one f32 accumulator would stall. */
class LargeRowsTest {
    private static Tensor run(Graph graph, Tensor... inputs) {
        CpuRun.useVectors();
        try (Device device = new CpuBackend().open(0, EngineOptions.defaults().withThreads(2));
                Device.Constants weights = device.newConstants();
                Device.State context = device.newState()) {
            return device.compile(new Plan(graph, MemoryPlanner.plan(graph)), weights, CompileOptions.defaults())
                    .run(context, inputs)[0];
        }
    }

    @Test
    void softmaxOfThirtyThreeMillionColumns() {
        int n = 33_554_433;
        Graph graph = GraphBuilder.build("softmax", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, 1, n));
            g.output("y", g.softmax(x, 1));
        });
        Tensor x = Tensor.zeros(DType.F32, 1, n);
        x.segment().set(ValueLayout.JAVA_FLOAT, 4L * (n - 1), 17.32868f);
        Tensor y = run(graph, x);
        assertThat(y.getDouble(n - 1)).isCloseTo(0.5, Percentage.withPercentage(1e-3));
        assertThat(y.getDouble(0)).isCloseTo(0x1p-26, Percentage.withPercentage(1e-3));
        assertThat(y.getDouble(n - 2)).isEqualTo(y.getDouble(0));
    }

    /** A chunk of -inf alone, NaN, infinity, and none of them; two rows, which have nothing to do with each other. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void longRowsKeepTheirEdges(boolean log) {
        int n = (int) LongSoftmaxStep.MOST_ALONE + 65_537;
        for (DType dtype : new DType[] {DType.F32, DType.F16, DType.BF16}) {
            for (double edge : new double[] {0, Double.NEGATIVE_INFINITY, Double.NaN, Double.POSITIVE_INFINITY}) {
                Graph graph = GraphBuilder.build("softmax", g -> {
                    Value x = g.input("x", TensorType.of(dtype, 2, n));
                    g.output("y", log ? g.logSoftmax(x, 1) : g.softmax(x, 1));
                });
                double[] values = new double[2 * n];
                SplittableRandom random = new SplittableRandom(3);
                for (int i = 0; i < values.length; i++) {
                    values[i] = random.nextDouble(-4, 4);
                }
                boolean chunk = edge == Double.NEGATIVE_INFINITY;
                Arrays.fill(values, chunk ? 65_536 : n - 1, chunk ? 2 * 65_536 : n, edge);
                Tensor x = Tensor.of(dtype, values, 2, n);
                Tensor y = run(graph, x);
                for (int row = 0; row < 2; row++) {
                    checkRow(x, y, row, n, log);
                }
            }
        }
    }

    private static void checkRow(Tensor x, Tensor y, int row, int n, boolean log) {
        double max = Double.NEGATIVE_INFINITY;
        double sum = 0;
        for (int i = row * n; i < (row + 1) * n; i++) {
            max = Math.max(max, x.getDouble(i));
        }
        for (int i = row * n; i < (row + 1) * n; i++) {
            sum += Math.exp(x.getDouble(i) - max);
        }
        double half = x.dtype() == DType.F32 ? 2e-6 : x.dtype() == DType.F16 ? 0x1p-10 : 0x1p-7;
        for (int i = row * n; i < (row + 1) * n; i += i % 7 + 1) {
            double shifted = x.getDouble(i) - max;
            double expected = log ? shifted - Math.log(sum) : Math.exp(shifted) / sum;
            double actual = y.getDouble(i);
            if (Double.isFinite(expected)) {
                double smallest = x.dtype() == DType.F16 ? 0x1p-24 : 1e-37;
                assertThat(actual)
                        .as(x.dtype() + " " + i)
                        .isCloseTo(expected, within(half * Math.abs(expected) + smallest));
            } else {
                assertThat(Double.compare(actual, expected))
                        .as(x.dtype() + " " + i)
                        .isZero();
            }
        }
    }

    @Test
    void halfPrecisionSoftmaxDoesNotOverflow() {
        Graph graph = GraphBuilder.build("softmax", g -> {
            Value x = g.input("x", TensorType.of(DType.F16, 1, 70_000));
            g.output("y", g.softmax(x, 1));
        });
        Tensor y = run(graph, Tensor.zeros(DType.F16, 1, 70_000));
        for (int i = 0; i < 70_000; i += 999) {
            assertThat(y.segment().get(ValueLayout.JAVA_SHORT, 2L * i)).isEqualTo((short) 0x00F0);
        }
    }

    @Test
    void sumsOfOnesAreExactInEveryDirection() {
        int n = 16_777_218;
        for (boolean tall : new boolean[] {true, false}) {
            sumOfOnes(ReduceFn.SUM, tall, n, 0);
            sumOfOnes(ReduceFn.SUM, tall, n, 1);
            sumOfOnes(ReduceFn.SUM, tall, n, 0, 1);
            sumOfOnes(ReduceFn.MEAN, tall, n, tall ? 0 : 1);
        }
    }

    private static void sumOfOnes(ReduceFn fn, boolean tall, int n, int... axes) {
        Graph graph = GraphBuilder.build("sum", g -> {
            Value one = g.constant(new ConstantData.Splat(TensorType.of(DType.F32, 1), Float.floatToRawIntBits(1f)));
            Value x = g.input("x", tall ? TensorType.of(DType.F32, n, 2) : TensorType.of(DType.F32, 2, n));
            g.output("y", g.reduce(fn, g.add(x, one), false, axes));
        });
        Tensor y = run(graph, Tensor.zeros(graph.inputs().getFirst().type()));
        double count = 2.0 * n / y.elements();
        assertThat(y.getDouble(0)).isEqualTo(fn == ReduceFn.SUM ? count : 1);
        assertThat(y.getDouble(y.elements() - 1)).isEqualTo(y.getDouble(0));
    }
}
