package dev.tenon.cpu.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.CpuRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps of convolutions and pools whose channels lie side by side, against float64. */
class ChannelsLastStepsTest {
    private static final Unary RELU = Unary.of(UnaryFn.RELU);

    /** Winograd's error beside that of plain sums: an order of magnitude of the least digits. */
    private static final int WIDER = 8;

    private static Conv conv(List<Long> strides, List<Long> before, List<Long> after, long groups, Epilogue epilogue) {
        return new Conv(strides, before, after, List.of(1L, 1L), groups, epilogue);
    }

    private static List<NdArray> inputs(Seeded random, long[] x, long[] w) {
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(random.floats(DType.F32, -1, 1, x));
        inputs.add(random.floats(DType.F32, -0.5, 0.5, w));
        inputs.add(random.floats(DType.F32, -1, 1, w[0]));
        return inputs;
    }

    private static NdArray check(ChannelsLastConv op, List<NdArray> inputs, int threads, double wider) {
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        long depth = inputs.get(1).size() / inputs.get(1).shape().size(0);
        Tolerance usual = Tolerance.of(DType.F32, depth);
        Tolerance tolerance = new Tolerance(wider * usual.relative(), wider * usual.absolute());
        try (CpuRun run = new CpuRun(threads)) {
            NdArray actual = run.run(op, inputs, 1).getFirst();
            tolerance.check(op.toString(), expected, actual);
            return actual;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 10, 10, 16, 16, 1, 1",
        "2, 11, 13, 17, 33, 1, 1",
        "1, 14, 14, 64, 48, 1, 3",
        "3, 12, 9, 40, 31, 0, 2",
        "1, 29, 30, 24, 16, 2, 3",
        "1, 9, 60, 16, 100, 1, 1",
    })
    void tilesOfAnySizeAgree(int batch, int height, int width, int channels, int outputs, long pad, int threads) {
        Seeded random = new Seeded(height * 31L + channels);
        Epilogue epilogue = Epilogue.NONE.withBias().withActivation(RELU);
        List<NdArray> inputs =
                inputs(random, new long[] {batch, height, width, channels}, new long[] {outputs, 3, 3, channels});
        Conv conv = conv(List.of(1L, 1L), List.of(pad, 1L), List.of(1L, pad), 1, epilogue);
        check(new ChannelsLastConv(conv), inputs, threads, WIDER);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void residualsAreAddedToTiles(boolean first) {
        Seeded random = new Seeded(5);
        Epilogue biased = Epilogue.NONE.withBias();
        Epilogue epilogue = first
                ? biased.withResidual().withActivation(RELU)
                : biased.withActivation(RELU).withResidual();
        List<NdArray> inputs = inputs(random, new long[] {1, 13, 14, 16}, new long[] {20, 3, 3, 16});
        inputs.add(random.floats(DType.F32, -1, 1, 1, 13, 14, 20));
        Conv conv = conv(List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), 1, epilogue);
        check(new ChannelsLastConv(conv), inputs, 2, WIDER);
    }

    /** An infinity in the input reaches the windows that have it, and no others of its tile. */
    @ParameterizedTest
    @ValueSource(doubles = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN})
    void valuesThatAreNotFiniteStayInTheirWindows(double value) {
        Seeded random = new Seeded(7);
        List<NdArray> inputs = inputs(random, new long[] {1, 12, 12, 16}, new long[] {16, 3, 3, 16});
        int at = (5 * 12 + 6) * 16 + 3;
        inputs.getFirst().set(at, Tolerance.rounded(DType.F32, value));
        Conv conv = conv(List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), 1, Epilogue.NONE.withBias());
        NdArray expected = Interpreter.run(new ChannelsLastConv(conv), inputs).getFirst();
        try (CpuRun run = new CpuRun(1)) {
            NdArray actual = run.run(new ChannelsLastConv(conv), inputs, 1).getFirst();
            for (int i = 0; i < expected.size(); i++) {
                boolean finite = Double.isFinite(expected.get(i));
                assertThat(Double.isFinite(actual.get(i))).as("element " + i).isEqualTo(finite);
                assertThat(finite || Double.compare(actual.get(i), expected.get(i)) == 0)
                        .as("element " + i)
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "7, 9, 8, 4, 3, 1, 1, 1, 1",
        "7, 8, 5, 33, 3, 2, 1, 1, 3",
        "5, 6, 12, 8, 1, 1, 0, 2, 2",
        "14, 3, 24, 36, 1, 1, 0, 4, 3",
        "9, 9, 24, 24, 3, 1, 1, 24, 1",
        "9, 10, 40, 40, 3, 2, 1, 40, 3",
        "6, 7, 5, 5, 5, 1, 2, 5, 2",
        "1, 1, 16, 16, 3, 1, 1, 1, 1",
        "8, 8, 900, 7, 3, 1, 1, 1, 2",
        "30, 31, 3, 24, 3, 2, 1, 1, 2",
    })
    void groupsAndStridesAgree(
            int height,
            int width,
            int channels,
            int outputs,
            long kernel,
            long stride,
            long pad,
            long groups,
            int threads) {
        Seeded random = new Seeded(height * 31L + channels);
        List<NdArray> inputs = inputs(
                random, new long[] {2, height, width, channels}, new long[] {outputs, kernel, kernel, channels / groups
                });
        Epilogue epilogue = Epilogue.NONE.withBias().withActivation(RELU);
        Conv conv = conv(List.of(stride, stride), List.of(pad, pad), List.of(pad, pad), groups, epilogue);
        check(new ChannelsLastConv(conv), inputs, threads, 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = PoolFn.class,
            names = {"MAX", "AVERAGE"})
    void poolsAcrossChannelsAgree(PoolFn fn) {
        Seeded random = new Seeded(3);
        for (int channels : new int[] {8, 15, 16, 17, 50}) {
            for (boolean counted : new boolean[] {false, true}) {
                for (boolean ceil : new boolean[] {false, true}) {
                    Pool op = new Pool(
                            fn,
                            List.of(3L, 2L, 1L),
                            List.of(2L, 1L, 1L),
                            List.of(1L, 1L, 0L),
                            List.of(2L, 0L, 0L),
                            List.of(1L, 2L, 1L),
                            ceil,
                            counted,
                            0);
                    NdArray x = random.floats(DType.F32, -1, 1, 2, 1, 9, 8, channels);
                    x.set(100, Double.NaN);
                    x.set(200, Double.NEGATIVE_INFINITY);
                    NdArray expected = Interpreter.run(op, List.of(x)).getFirst();
                    try (CpuRun run = new CpuRun(2)) {
                        Tolerance.of(DType.F32, 6)
                                .check(
                                        op + " of " + channels,
                                        expected,
                                        run.run(op, List.of(x), 1).getFirst());
                    }
                }
            }
        }
    }
}
