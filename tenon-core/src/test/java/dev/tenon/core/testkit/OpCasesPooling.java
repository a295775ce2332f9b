package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvInteger;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.pooling.MaxPoolIndices;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** Convolution, pooling, resizing. */
final class OpCasesPooling {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(9);

    private OpCasesPooling() {}

    static List<OpCase> all() {
        OpCasesPooling all = new OpCasesPooling();
        all.convolutions();
        all.channelsLast();
        all.convolutionsByHand();
        all.infiniteWeights();
        all.transposedConvolutions();
        all.integerConvolutions();
        for (PoolFn fn : PoolFn.values()) {
            all.pools(fn);
        }
        all.poolsByHand();
        all.indices();
        all.cases.addAll(OpCasesResize.all());
        return List.copyOf(all.cases);
    }

    private static List<Long> each(int axes, long value) {
        return Collections.nCopies(axes, value);
    }

    private static Conv conv(int axes, long stride, long before, long after, long dilation, long groups) {
        return new Conv(
                each(axes, stride), each(axes, before), each(axes, after), each(axes, dilation), groups, Epilogue.NONE);
    }

    private static long[] joined(long first, long second, long... rest) {
        long[] all = new long[2 + rest.length];
        all[0] = first;
        all[1] = second;
        System.arraycopy(rest, 0, all, 2, rest.length);
        return all;
    }

    private void convolutions() {
        for (DType type : OpCases.FLOATS) {
            for (long[] spatial : new long[][] {{19}, {9, 11}, {5, 6, 7}, {3, 4, 3, 5}}) {
                int axes = spatial.length;
                long[] kernel = new long[axes];
                Arrays.fill(kernel, 3);
                conv(conv(axes, 1, 0, 0, 1, 1), type, 2, 3, 4, spatial, kernel);
                conv(conv(axes, 2, 1, 1, 1, 1), type, 1, 5, 3, spatial, kernel);
                conv(conv(axes, 1, 0, 2, 1, 2), type, 2, 4, 6, spatial, kernel);
                conv(conv(axes, 1, 2, 2, 2, 1), type, 1, 2, 2, spatial, kernel);
                // depthwise
                conv(conv(axes, 1, 1, 1, 1, 6), type, 2, 6, 6, spatial, kernel);
                // each channel makes two
                conv(conv(axes, 2, 1, 0, 1, 3), type, 1, 3, 6, spatial, kernel);
                Arrays.fill(kernel, 1);
                conv(conv(axes, 1, 0, 0, 1, 1), type, 2, 17, 33, spatial, kernel);
            }
        }
        Conv mixed = new Conv(
                OpCases.sizes(1, 3), OpCases.sizes(0, 2), OpCases.sizes(3, 1), OpCases.sizes(2, 1), 1, Epilogue.NONE);
        conv(mixed, DType.F32, 2, 3, 5, new long[] {10, 13}, 2, 5);
        for (Epilogue epilogue : List.of(
                Epilogue.NONE.withBias(),
                Epilogue.NONE.withActivation(Unary.of(UnaryFn.RELU)),
                Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.GELU)),
                Epilogue.NONE
                        .withBias()
                        .withActivation(new Unary(UnaryFn.SILU, 1, 0))
                        .withResidual(),
                Epilogue.NONE.withResidual().withActivation(Unary.of(UnaryFn.RELU)),
                Epilogue.NONE.withBias().withResidual().withActivation(new Unary(UnaryFn.SILU, 1, 0)))) {
            for (DType type : OpCases.FLOATS) {
                List<NdArray> inputs = new ArrayList<>(
                        List.of(random.array(type, 2, 3, 7, 6), random.floats(type, -0.25, 0.25, 5, 3, 3, 3)));
                if (epilogue.bias()) {
                    inputs.add(random.array(type, 5));
                }
                if (epilogue.residual()) {
                    inputs.add(random.array(type, 2, 5, 7, 6));
                }
                Conv op = new Conv(each(2, 1), each(2, 1), each(2, 1), each(2, 1), 1, epilogue);
                cases.add(new OpCase("conv " + epilogue + " " + type, op, inputs, 27));
            }
        }
    }

    private void conv(Conv op, DType type, long batch, long channels, long results, long[] spatial, long... kernel) {
        NdArray x = random.array(type, joined(batch, channels, spatial));
        NdArray w = random.array(type, joined(results, channels / op.groups(), kernel));
        String name = "conv " + x.type() + " by " + w.shape() + " strides " + op.strides() + " pads " + op.padsBefore()
                + op.padsAfter() + " dilations " + op.dilations() + " groups " + op.groups();
        cases.add(OpCase.sums(name, w.size() / results, op, x, w));
    }

    private void channelsLast() {
        for (DType type : OpCases.FLOATS) {
            Conv biased = new Conv(each(2, 2), each(2, 1), each(2, 0), each(2, 1), 2, Epilogue.NONE.withBias());
            cases.add(OpCase.sums(
                    "channels_last_conv " + type,
                    36,
                    new ChannelsLastConv(biased),
                    random.array(type, 2, 7, 6, 8),
                    random.floats(type, -0.25, 0.25, 6, 3, 3, 4),
                    random.array(type, 6)));
            cases.add(OpCase.sums(
                    "channels_last_conv of single cells " + type,
                    8,
                    new ChannelsLastConv(conv(1, 1, 0, 0, 1, 1)),
                    random.array(type, 1, 5, 8),
                    random.array(type, 3, 1, 8)));
        }
    }

    /** Cells in padding are left out, whatever their weights. */
    private void infiniteWeights() {
        for (DType type : OpCases.FLOATS) {
            for (long groups : new long[] {1, 4}) {
                NdArray w = random.array(type, 4, 4 / groups, 3, 3);
                w.set(0, Double.POSITIVE_INFINITY);
                w.set(w.size() - 1, Double.NaN);
                w.set(w.size() / 2 + 1, Double.NEGATIVE_INFINITY);
                String name = "conv weights not finite, groups " + groups + " " + type;
                NdArray x = random.array(type, 2, 4, 5, 6);
                cases.add(OpCase.sums(name, 36, conv(2, 1, 1, 2, 1, groups), x, w));
                ConvTranspose back = new ConvTranspose(
                        each(2, 2), each(2, 1), each(2, 0), each(2, 1), each(2, 1), groups, Epilogue.NONE);
                cases.add(OpCase.sums(name.replace("conv", "conv_transpose"), 36, back, x, w));
            }
        }
    }

    private void convolutionsByHand() {
        NdArray x = OpCases.f32(new long[] {1, 1, 4}, 1, 2, 3, 4);
        NdArray pair = OpCases.f32(new long[] {1, 1, 2}, 1, 10);
        cases.add(OpCase.exact("conv padded after", conv(1, 1, 0, 1, 1, 1), x, pair));
        cases.add(OpCase.exact("conv padded before", conv(1, 1, 1, 0, 1, 1), x, pair));
        NdArray ones = NdArray.of(TensorType.of(DType.F32, 16, 2, 1, 1), filled(32, 1));
        cases.add(OpCase.exact(
                "conv groups of one pixel",
                conv(2, 1, 0, 0, 1, 2),
                OpCases.f32(new long[] {1, 4, 1, 1}, 0, 0, 0, 1),
                ones));
        double[] steps = new double[4 * 128];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = 1 + Math.floorDiv(i, 128);
        }
        NdArray line = OpCases.f32(new long[] {4, 2, 128}, filled(4 * 2 * 128, 1));
        cases.add(OpCase.exact(
                "conv long kernel", conv(1, 1, 0, 0, 1, 2), OpCases.f32(new long[] {1, 4, 128}, steps), line));
        NdArray none = NdArray.zeros(DType.F32, 0, 3, 5, 5);
        cases.add(OpCase.exact("conv no batch", conv(2, 1, 1, 1, 1, 1), none, random.array(DType.F32, 2, 3, 3, 3)));
        NdArray noChannels = NdArray.zeros(DType.F32, 1, 0, 5);
        cases.add(OpCase.exact(
                "conv no channels", conv(1, 1, 1, 1, 1, 1), noChannels, NdArray.zeros(DType.F32, 2, 0, 3)));
    }

    private static double[] filled(int count, double value) {
        double[] values = new double[count];
        Arrays.fill(values, value);
        return values;
    }

    private void transposedConvolutions() {
        for (DType type : OpCases.FLOATS) {
            for (long[] spatial : new long[][] {{7}, {4, 5}, {3, 2, 4}}) {
                int axes = spatial.length;
                transposed(type, spatial, 4, 3, each(axes, 1), 0, 0, 1, each(axes, 0), 1, Epilogue.NONE);
                transposed(type, spatial, 4, 2, each(axes, 2), 1, 0, 1, each(axes, 1), 2, Epilogue.NONE.withBias());
                transposed(type, spatial, 2, 3, each(axes, 2), 0, 2, 2, each(axes, 0), 1, Epilogue.NONE);
            }
        }
        Epilogue relu = Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU));
        transposed(DType.F32, new long[] {4, 5}, 2, 3, OpCases.sizes(3, 1), 1, 1, 1, OpCases.sizes(2, 0), 1, relu);
    }

    private void transposed(
            DType type,
            long[] spatial,
            long channels,
            long results,
            List<Long> strides,
            long before,
            long after,
            long dilation,
            List<Long> outputPadding,
            long groups,
            Epilogue epilogue) {
        int axes = spatial.length;
        long[] kernel = new long[axes];
        Arrays.fill(kernel, 3);
        ConvTranspose op = new ConvTranspose(
                strides, each(axes, before), each(axes, after), each(axes, dilation), outputPadding, groups, epilogue);
        List<NdArray> inputs = new ArrayList<>(List.of(
                random.array(type, joined(2, channels, spatial)),
                random.array(type, joined(channels, results, kernel))));
        if (epilogue.bias()) {
            inputs.add(random.array(type, results * groups));
        }
        String name = "conv_transpose " + inputs.getFirst().type() + " strides " + strides + " groups " + groups
                + (epilogue.isEmpty() ? "" : " epilogue") + " dilation " + dilation;
        cases.add(new OpCase(name, op, inputs, channels * 27));
    }

    private void integerConvolutions() {
        for (DType type : List.of(DType.U8, DType.I8)) {
            NdArray x = random.integers(type, -200, 200, 2, 4, 6, 5);
            NdArray w = random.integers(type, -200, 200, 6, 2, 3, 2);
            for (int flags = 0; flags < 4; flags++) {
                boolean zeroX = (flags & 1) != 0;
                boolean zeroW = (flags & 2) != 0;
                ConvInteger op =
                        new ConvInteger(each(2, 1), OpCases.sizes(1, 0), each(2, 1), each(2, 1), 2, zeroX, zeroW);
                List<NdArray> inputs = new ArrayList<>(List.of(x, w));
                if (zeroX) {
                    inputs.add(random.integers(type, 0, 100));
                }
                if (zeroW) {
                    inputs.add(zeroX ? random.integers(type, 0, 100, 6) : random.integers(type, 0, 100));
                }
                cases.add(new OpCase("conv_integer " + type + " " + flags, op, inputs, 0));
            }
        }
    }

    private void pools(PoolFn fn) {
        List<DType> types = new ArrayList<>(OpCases.FLOATS);
        types.addAll(fn == PoolFn.MAX ? OpCases.INTEGERS : List.of());
        for (DType type : types) {
            for (long[] spatial : new long[][] {{19}, {9, 12}, {5, 6, 7}, {3, 4, 3, 5}}) {
                int axes = spatial.length;
                NdArray x = random.array(type, joined(2, 3, spatial));
                for (int mode = 0; mode < 4; mode++) {
                    boolean ceil = (mode & 1) != 0;
                    boolean count = (mode & 2) != 0;
                    pool(fn, x, axes, 3, 2, 1, 1, 1, ceil, count);
                    pool(fn, x, axes, 2, 3, 0, 1, 2, ceil, count);
                }
                pool(fn, x, axes, 1, 1, 0, 0, 1, false, false);
            }
        }
    }

    private void pool(
            PoolFn fn,
            NdArray x,
            int axes,
            long kernel,
            long stride,
            long before,
            long after,
            long dilation,
            boolean ceil,
            boolean count) {
        Pool op = new Pool(
                fn,
                each(axes, kernel),
                each(axes, stride),
                each(axes, before),
                each(axes, after),
                each(axes, dilation),
                ceil,
                count,
                fn == PoolFn.LP ? 2 : 0);
        String name = "pool " + fn + " " + x.type() + " kernel " + kernel + " stride " + stride + (ceil ? " ceil" : "")
                + (count ? " counting padding" : "");
        cases.add(fn == PoolFn.MAX ? OpCase.exact(name, op, x) : OpCase.sums(name, 27, op, x));
    }

    private void poolsByHand() {
        double[] sixteen = new double[16];
        Arrays.setAll(sixteen, i -> i + 1);
        NdArray x = OpCases.f32(new long[] {1, 1, 4, 4}, sixteen);
        for (boolean count : new boolean[] {true, false}) {
            Pool op = new Pool(
                    PoolFn.AVERAGE, each(2, 3), each(2, 2), each(2, 1), each(2, 1), each(2, 1), true, count, 0);
            cases.add(OpCase.close("pool past the padding " + count, op, x));
        }
        widePools();
        channelsBehind();
        double nan = Double.NaN;
        NdArray bad = OpCases.f32(new long[] {1, 1, 5}, 1, nan, 2, Double.NEGATIVE_INFINITY, 3);
        for (PoolFn fn : PoolFn.values()) {
            long before = fn == PoolFn.LP ? 2 : 1; // a norm has a value for padding alone
            Pool op = new Pool(fn, each(1, 2), each(1, 1), each(1, before), each(1, 0), each(1, 1), false, false, 3);
            cases.add(OpCase.close("pool NaN and infinity " + fn, op, bad));
            Pool whole = new Pool(
                    fn, OpCases.sizes(33, 31), each(2, 1), each(2, 0), each(2, 0), each(2, 1), false, false, 1);
            cases.add(OpCase.sums("pool all of it " + fn, 1023, whole, random.array(DType.F32, 2, 3, 33, 31)));
            cases.add(OpCase.exact("pool no batch " + fn, op, NdArray.zeros(DType.F32, 0, 3, 5)));
        }
    }

    /** Windows over two of three dims, behind which channels lie in whole packs: 16 bytes of each type. */
    private void channelsBehind() {
        for (DType type : OpCases.FLOATS) {
            for (PoolFn fn : List.of(PoolFn.MAX, PoolFn.AVERAGE)) {
                for (int mode = 0; mode < 4; mode++) {
                    NdArray x = random.array(type, 2, 1 + mode % 2, 9, 12, 8 + 16 * mode);
                    if (mode == 3) {
                        x.set(70, Double.NaN);
                        x.set(300, Double.NEGATIVE_INFINITY);
                    }
                    Pool op = new Pool(
                            fn,
                            OpCases.sizes(3, 2, 1),
                            OpCases.sizes(2, 1, 1),
                            OpCases.sizes(1, 1, 0),
                            OpCases.sizes(1, 0, 0),
                            OpCases.sizes(1 + mode % 2, 1, 1),
                            mode == 1,
                            mode >= 2,
                            0);
                    String name = "pool of channels behind " + fn + " " + x.type();
                    cases.add(fn == PoolFn.MAX ? OpCase.exact(name, op, x) : OpCase.sums(name, 6, op, x));
                }
            }
        }
    }

    /** More than a block of results, windows of thousands of cells, one result. */
    private void widePools() {
        for (PoolFn fn : PoolFn.values()) {
            long p = fn == PoolFn.LP ? 3 : 0;
            for (DType type : List.of(DType.F32, DType.F16)) {
                NdArray flat = random.array(type, 2, 1, 21, 20);
                pool(fn, flat, 2, 3, 1, 2, 1, 1, false, true);
                NdArray long1 = random.array(type, 1, 2, 2500);
                Pool line =
                        new Pool(fn, each(1, 2100), each(1, 150), each(1, 70), each(1, 1), each(1, 1), true, false, p);
                cases.add(OpCase.sums("pool of 2100 " + fn + " " + type, 2100, line, long1));
            }
            Pool one = new Pool(fn, each(3, 1), each(3, 1), each(3, 0), each(3, 0), each(3, 1), false, false, p);
            cases.add(OpCase.close("pool of one " + fn, one, random.array(DType.F64, 1, 1, 1, 1, 1)));
        }
        NdArray ties = OpCases.f32(new long[] {1, 1, 40}, filled(40, -0.0));
        MaxPoolIndices whole =
                new MaxPoolIndices(each(1, 40), each(1, 1), each(1, 0), each(1, 0), each(1, 1), false, false);
        cases.add(OpCase.exact("max_pool_indices wide ties", whole, ties));
        double[] mixed = filled(64, 1);
        mixed[37] = Double.NaN;
        mixed[41] = Double.NaN;
        mixed[50] = 9;
        NdArray bad = OpCases.f32(new long[] {1, 2, 32}, mixed);
        MaxPoolIndices rows =
                new MaxPoolIndices(each(1, 32), each(1, 1), each(1, 0), each(1, 0), each(1, 1), false, false);
        cases.add(OpCase.exact("max_pool_indices wide NaN", rows, bad));
    }

    private void indices() {
        for (DType type : List.of(DType.F64, DType.F32, DType.F16, DType.BF16, DType.I8, DType.U8)) {
            for (long[] spatial : new long[][] {{19}, {9, 12}, {5, 6, 7}}) {
                int axes = spatial.length;
                NdArray x = random.array(type, joined(2, 3, spatial));
                for (boolean columnMajor : new boolean[] {false, true}) {
                    for (boolean ceil : new boolean[] {false, true}) {
                        MaxPoolIndices op = new MaxPoolIndices(
                                each(axes, 3),
                                each(axes, 2),
                                each(axes, 1),
                                each(axes, 1),
                                each(axes, 1),
                                ceil,
                                columnMajor);
                        cases.add(OpCase.exact(
                                "max_pool_indices " + x.type() + (ceil ? " ceil" : "")
                                        + (columnMajor ? " columns" : ""),
                                op,
                                x));
                    }
                }
            }
        }
        MaxPoolIndices line =
                new MaxPoolIndices(each(1, 3), each(1, 1), each(1, 2), each(1, 0), each(1, 1), false, false);
        double nan = Double.NaN;
        cases.add(OpCase.exact(
                "max_pool_indices ties and NaN", line, OpCases.f32(new long[] {1, 1, 6}, 2, 2, nan, 1, nan, 3)));
    }
}
