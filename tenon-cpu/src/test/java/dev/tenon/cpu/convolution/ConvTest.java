package dev.tenon.cpu.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.OneNode;
import dev.tenon.cpu.RandomOps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConvTest {
    private static List<Long> ones(int axes) {
        return Collections.nCopies(axes, 1L);
    }

    private static NdArray f32(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    /** CV-01: padding at one end only, in 1-d and in both axes of 2-d. */
    @ParameterizedTest
    @CsvSource({
        "0, 1, '1 1 1', '6 9 7'",
        "1, 0, '1 1 1', '3 6 9'",
        "0, 1, '1 10', '21 32 43 4'",
        "1, 0, '1 10', '10 21 32 43'"
    })
    void asymmetricPadding(long before, long after, String filter, String expected) {
        double[] w = numbers(filter);
        double[] y = numbers(expected);
        Conv line = new Conv(List.of(1L), List.of(before), List.of(after), List.of(1L), 1, Epilogue.NONE);
        NdArray x1 = f32(new long[] {1, 1, 4}, 1, 2, 3, 4);
        assertThat(run(line, x1, f32(new long[] {1, 1, w.length}, w))).containsExactly(y);
        Conv wide = new Conv(ones(2), List.of(0L, before), List.of(0L, after), ones(2), 1, Epilogue.NONE);
        NdArray x2 = f32(new long[] {1, 1, 1, 4}, 1, 2, 3, 4);
        assertThat(run(wide, x2, f32(new long[] {1, 1, 1, w.length}, w))).containsExactly(y);
        Conv high = new Conv(ones(2), List.of(before, 0L), List.of(after, 0L), ones(2), 1, Epilogue.NONE);
        NdArray x3 = f32(new long[] {1, 1, 4, 1}, 1, 2, 3, 4);
        assertThat(run(high, x3, f32(new long[] {1, 1, w.length, 1}, w))).containsExactly(y);
    }

    private static double[] numbers(String text) {
        return Arrays.stream(text.split(" ", -1))
                .mapToDouble(Double::parseDouble)
                .toArray();
    }

    private static double[] run(Conv op, NdArray... inputs) {
        return OneNode.of(op, inputs).run().getFirst().toDoubles();
    }

    /** CV-02: each group reads its own slice of the input. */
    @Test
    void groups() {
        Conv op = new Conv(ones(2), List.of(0L, 0L), List.of(0L, 0L), ones(2), 2, Epilogue.NONE);
        double[] w = new double[32];
        Arrays.fill(w, 1);
        assertThat(run(op, f32(new long[] {1, 4, 1, 1}, 0, 0, 0, 1), f32(new long[] {16, 2, 1, 1}, w)))
                .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
        double[] x = new double[4 * 128];
        for (int i = 0; i < x.length; i++) {
            x[i] = i / 128 + 1;
        }
        double[] long1 = new double[4 * 2 * 128];
        Arrays.fill(long1, 1);
        Conv line = new Conv(ones(1), List.of(0L), List.of(0L), ones(1), 2, Epilogue.NONE);
        assertThat(run(line, f32(new long[] {1, 4, 128}, x), f32(new long[] {4, 2, 128}, long1)))
                .containsExactly(384, 384, 896, 896);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
    void randomConvolutions(long seed) {
        Seeded random = new Seeded(seed);
        for (int round = 0; round < 4; round++) {
            int axes = (int) random.nextLong(1, 3);
            List<Long> kernel = RandomOps.numbers(random, axes, 1, 3);
            List<Long> sizes = RandomOps.numbers(random, axes, 5, axes == 1 ? 90 : 12);
            boolean depthwise = random.nextLong(0, 2) == 0;
            long groups = depthwise ? random.nextLong(1, 5) : random.nextLong(1, 3);
            long in = depthwise ? 1 : random.nextLong(1, 6);
            long out = depthwise ? 1 : random.nextLong(1, 12);
            DType dtype = RandomOps.any(random, DType.F32, DType.F32, DType.F32, DType.F64, DType.F16, DType.BF16);
            Epilogue epilogue = epilogue(random);
            Conv op = new Conv(
                    RandomOps.numbers(random, axes, 1, 3),
                    RandomOps.numbers(random, axes, 0, 2),
                    RandomOps.numbers(random, axes, 0, 2),
                    RandomOps.numbers(random, axes, 1, 2),
                    groups,
                    epilogue);
            List<NdArray> inputs = new ArrayList<>();
            inputs.add(random.floats(dtype, -1, 1, RandomOps.join(random.nextLong(1, 2), groups * in, sizes)));
            inputs.add(random.floats(dtype, -1, 1, RandomOps.join(groups * out, in, kernel)));
            addEpilogue(
                    random,
                    epilogue,
                    groups * out,
                    inputs,
                    () -> new Conv(op.strides(), op.padsBefore(), op.padsAfter(), op.dilations(), groups, Epilogue.NONE)
                            .shapes(List.of(inputs.get(0).shape(), inputs.get(1).shape()))
                            .getFirst()
                            .sizes());
            RandomOps.check(op, in * 27, inputs);
        }
    }

    /** Larger than one block of the matrix product in every direction. */
    @Test
    void largeConvolution() {
        Seeded random = new Seeded(99);
        Conv op = new Conv(List.of(1L, 2L), ones(2), List.of(0L, 2L), ones(2), 1, Epilogue.NONE.withBias());
        NdArray x = random.floats(DType.F32, -1, 1, 1, 70, 15, 41);
        NdArray w = random.floats(DType.F32, -1, 1, 75, 70, 3, 3);
        RandomOps.check(op, 70 * 9, List.of(x, w, random.floats(DType.F32, -1, 1, 75)));
    }

    /** Rows that are joined whole and in parts, blocks that begin in the middle of one, planes that are too large. */
    @ParameterizedTest
    @CsvSource({"58, 1, 1", "64, 1, 2", "65, 1, 1", "66, 2, 1", "130, 2, 2", "301, 3, 1", "40, 4, 3"})
    void wideRows(long width, long stride, long dilation) {
        Seeded random = new Seeded(width);
        List<Long> strides = List.of(stride, stride);
        List<Long> dilations = List.of(dilation, dilation);
        for (long groups : new long[] {1, 6}) {
            Conv op = new Conv(strides, List.of(1L, 2L), List.of(2L, 1L), dilations, groups, Epilogue.NONE.withBias());
            NdArray x = random.floats(DType.F32, -1, 1, 2, 6, 23, width);
            NdArray w = random.floats(DType.F32, -1, 1, groups == 1 ? 9 : 6, 6 / groups, 3, 5);
            NdArray bias = random.floats(DType.F32, -1, 1, groups == 1 ? 9 : 6);
            RandomOps.check(op, 6 * 15, List.of(x, w, bias));
        }
        Conv large = new Conv(strides, List.of(1L, 1L), List.of(1L, 1L), dilations, 2, Epilogue.NONE);
        NdArray planes = random.floats(DType.F32, -1, 1, 1, 2, 200, width);
        RandomOps.check(large, 9, List.of(planes, random.floats(DType.F32, -1, 1, 2, 1, 3, 3)));
    }

    /** One plane in the middle of the depth's padding is not under the only window. */
    @Test
    void windowInThePaddingOfTheDepth() {
        for (long groups : new long[] {1, 2}) {
            Conv op = new Conv(
                    List.of(2L, 1L, 1L), List.of(1L, 0L, 0L), List.of(0L, 0L, 0L), ones(3), groups, Epilogue.NONE);
            NdArray x = f32(new long[] {1, 2, 1, 1, 2}, 1, 1, 1, 1);
            NdArray w = f32(
                    new long[] {2, 2 / groups, 1, 1, 1}, groups == 1 ? new double[] {1, 1, 1, 1} : new double[] {1, 1});
            assertThat(run(op, x, w)).containsExactly(0, 0, 0, 0);
            assertThat(OneNode.of(op, x, w).constants().run().getFirst().toDoubles())
                    .containsExactly(0, 0, 0, 0);
        }
    }

    @ParameterizedTest
    @CsvSource({"46341, 1, 1", "65536, 1, 1", "2147483647, 1, 1", "1000, 1, 1", "1, 20000, 20000", "1, 100000, 100000"})
    void stridesAndDilationsFarBeyondTheImage(long stride, long dilation, long padding) {
        Seeded random = new Seeded(stride);
        for (long groups : new long[] {1, 2}) {
            Conv op = new Conv(
                    List.of(stride, stride),
                    List.of(padding, padding),
                    List.of(padding, padding),
                    List.of(dilation, dilation),
                    groups,
                    Epilogue.NONE);
            NdArray x = random.floats(DType.F32, -1, 1, 1, 2, 5, 5);
            RandomOps.check(op, 18, List.of(x, random.floats(DType.F32, -1, 1, 2, 2 / groups, 3, 3)));
        }
    }

    @Test
    void emptyConvolutions() {
        Conv op = new Conv(ones(2), List.of(0L, 0L), List.of(0L, 0L), ones(2), 1, Epilogue.NONE.withBias());
        NdArray bias = f32(new long[] {2}, 3, 4);
        NdArray y = OneNode.of(op, NdArray.zeros(DType.F32, 1, 0, 2, 1), NdArray.zeros(DType.F32, 2, 0, 1, 1), bias)
                .run()
                .getFirst();
        assertThat(y.toDoubles()).containsExactly(3, 3, 4, 4);
        NdArray none = OneNode.of(op, NdArray.zeros(DType.F32, 0, 3, 2, 1), NdArray.zeros(DType.F32, 2, 3, 1, 1), bias)
                .run()
                .getFirst();
        assertThat(none.shape().sizes()).containsExactly(0, 2, 2, 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void randomTransposedConvolutions(long seed) {
        Seeded random = new Seeded(seed);
        for (int round = 0; round < 4; round++) {
            int axes = (int) random.nextLong(1, 3);
            List<Long> kernel = RandomOps.numbers(random, axes, 2, 3);
            List<Long> sizes = RandomOps.numbers(random, axes, 3, axes == 1 ? 150 : 7);
            long groups = random.nextLong(1, 2);
            long in = random.nextLong(1, 6);
            long out = random.nextLong(1, 6);
            DType dtype = RandomOps.any(random, DType.F32, DType.F32, DType.F32, DType.F64, DType.F16);
            Epilogue epilogue = epilogue(random);
            List<Long> strides = RandomOps.numbers(random, axes, 1, 3);
            List<Long> before = RandomOps.numbers(random, axes, 0, 1);
            List<Long> after = RandomOps.numbers(random, axes, 0, 1);
            List<Long> dilations = RandomOps.numbers(random, axes, 1, 2);
            List<Long> extra = RandomOps.numbers(random, axes, 0, 1);
            ConvTranspose op = new ConvTranspose(strides, before, after, dilations, extra, groups, epilogue);
            List<NdArray> inputs = new ArrayList<>();
            inputs.add(random.floats(dtype, -1, 1, RandomOps.join(random.nextLong(1, 2), groups * in, sizes)));
            inputs.add(random.floats(dtype, -1, 1, RandomOps.join(groups * in, out, kernel)));
            addEpilogue(
                    random,
                    epilogue,
                    groups * out,
                    inputs,
                    () -> new ConvTranspose(strides, before, after, dilations, extra, groups, Epilogue.NONE)
                            .shapes(List.of(inputs.get(0).shape(), inputs.get(1).shape()))
                            .getFirst()
                            .sizes());
            RandomOps.check(op, in * 27, inputs);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void randomIntegerConvolutions(long seed) {
        Seeded random = new Seeded(seed);
        int axes = (int) random.nextLong(1, 3);
        long groups = random.nextLong(1, 2);
        DType x = random.nextLong(0, 1) == 0 ? DType.U8 : DType.I8;
        DType w = random.nextLong(0, 1) == 0 ? DType.U8 : DType.I8;
        ConvInteger op = new ConvInteger(
                RandomOps.numbers(random, axes, 1, 2),
                RandomOps.numbers(random, axes, 0, 1),
                RandomOps.numbers(random, axes, 0, 2),
                RandomOps.numbers(random, axes, 1, 2),
                groups,
                true,
                true);
        long[] xSizes = RandomOps.join(2, groups * 3, RandomOps.numbers(random, axes, 6, 8));
        long[] wSizes = RandomOps.join(groups * 2, 3, RandomOps.numbers(random, axes, 1, 3));
        RandomOps.check(
                op,
                0,
                List.of(
                        random.integers(x, x == DType.U8 ? 0 : -128, x == DType.U8 ? 255 : 127, xSizes),
                        random.integers(w, w == DType.U8 ? 0 : -128, w == DType.U8 ? 255 : 127, wSizes),
                        random.integers(x, 1, 100),
                        random.integers(w, 1, 100, groups * 2)));
    }

    private static Epilogue epilogue(Seeded random) {
        Epilogue epilogue = random.nextLong(0, 1) == 0 ? Epilogue.NONE : Epilogue.NONE.withBias();
        epilogue = random.nextLong(0, 1) == 0 ? epilogue : epilogue.withActivation(Unary.of(UnaryFn.RELU));
        return random.nextLong(0, 1) == 0 ? epilogue : epilogue.withResidual();
    }

    private interface Sizes {
        long[] get();
    }

    private static void addEpilogue(
            Seeded random, Epilogue epilogue, long channels, List<NdArray> inputs, Sizes result) {
        DType dtype = inputs.getFirst().dtype();
        NdArray residual = epilogue.residual() ? random.floats(dtype, -1, 1, result.get()) : null;
        if (epilogue.bias()) {
            inputs.add(random.floats(dtype, -1, 1, channels));
        }
        if (residual != null) {
            inputs.add(residual);
        }
    }
}
