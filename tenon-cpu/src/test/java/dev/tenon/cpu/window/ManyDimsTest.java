package dev.tenon.cpu.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.RandomOps;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows over four and five dims against the definition. */
class ManyDimsTest {
    private static final Epilogue ALL =
            Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU)).withResidual();

    private final List<DType> floats = List.of(DType.F32, DType.F64, DType.F16, DType.BF16);

    /** Attributes of windows that have a cell in the input. */
    private static final class Form {
        final Seeded random;
        final int axes;
        final long groups;
        final List<Long> kernel;
        final List<Long> strides;
        final List<Long> before;
        final List<Long> after;
        final List<Long> dilations;
        final List<Long> sizes;

        Form(long seed) {
            random = new Seeded(seed);
            axes = (int) random.nextLong(4, 5);
            groups = random.nextLong(1, 2);
            kernel = RandomOps.numbers(random, axes, 1, 2);
            strides = RandomOps.numbers(random, axes, 1, 2);
            before = kernel.stream().map(size -> random.nextLong(0, size - 1)).toList();
            after = kernel.stream().map(size -> random.nextLong(0, size - 1)).toList();
            dilations = RandomOps.numbers(random, axes, 1, 2);
            sizes = RandomOps.numbers(random, axes, 3, 4);
        }

        boolean flip() {
            return random.nextLong(0, 1) == 0;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7})
    void convolutions(long seed) {
        Form form = new Form(seed);
        DType dtype = floats.get((int) seed % floats.size());
        NdArray x = form.random.array(dtype, RandomOps.join(2, form.groups * 2, form.sizes));
        NdArray w = form.random.array(dtype, RandomOps.join(form.groups * 3, 2, form.kernel));
        Conv plain = new Conv(form.strides, form.before, form.after, form.dilations, form.groups, Epilogue.NONE);
        RandomOps.check(plain, 64, List.of(x, w));
        long[] result = plain.shapes(List.of(x.shape(), w.shape())).getFirst().sizes();
        Conv op = new Conv(form.strides, form.before, form.after, form.dilations, form.groups, ALL);
        NdArray bias = form.random.array(dtype, form.groups * 3);
        RandomOps.check(op, 64, List.of(x, w, bias, form.random.array(dtype, result)));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7})
    void transposedConvolutions(long seed) {
        Form form = new Form(seed);
        DType dtype = floats.get((int) seed % floats.size());
        NdArray x = form.random.array(dtype, RandomOps.join(2, form.groups * 2, form.sizes));
        NdArray w = form.random.array(dtype, RandomOps.join(form.groups * 2, 3, form.kernel));
        List<Long> extra = RandomOps.numbers(form.random, form.axes, 0, 1);
        ConvTranspose op = new ConvTranspose(
                form.strides, form.before, form.after, form.dilations, extra, form.groups, Epilogue.NONE);
        RandomOps.check(op, 64, List.of(x, w));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5})
    void integerConvolutions(long seed) {
        Form form = new Form(seed);
        ConvInteger op =
                new ConvInteger(form.strides, form.before, form.after, form.dilations, form.groups, true, true);
        NdArray x = form.random.integers(DType.U8, 0, 255, RandomOps.join(1, form.groups * 2, form.sizes));
        NdArray w = form.random.integers(DType.I8, -128, 127, RandomOps.join(form.groups * 3, 2, form.kernel));
        NdArray zeroW = form.random.integers(DType.I8, -9, 9, form.groups * 3);
        RandomOps.check(op, 0, List.of(x, w, form.random.integers(DType.U8, 1, 200), zeroW));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void pools(long seed) {
        Form form = new Form(seed);
        DType dtype = floats.get((int) seed % floats.size());
        NdArray x = form.random.array(dtype, RandomOps.join(2, 2, form.sizes));
        x.set(7, Double.NaN);
        x.set(70, Double.NEGATIVE_INFINITY);
        boolean ceil = form.flip();
        for (PoolFn fn : PoolFn.values()) {
            long p = form.random.nextLong(1, 3);
            Pool op = new Pool(
                    fn,
                    form.kernel,
                    form.strides,
                    form.before,
                    form.after,
                    form.dilations,
                    ceil,
                    form.flip(),
                    fn == PoolFn.LP ? p : 0);
            RandomOps.check(op, fn == PoolFn.MAX ? 0 : 32, List.of(x));
        }
        DType any = RandomOps.any(form.random, DType.I8, DType.U8, DType.F32, DType.I64);
        MaxPoolIndices indices = new MaxPoolIndices(
                form.kernel, form.strides, form.before, form.after, form.dilations, ceil, form.flip());
        RandomOps.check(indices, 0, List.of(form.random.array(any, RandomOps.join(2, 2, form.sizes))));
    }
}
