package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Contraction;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.lower.step.ConvForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;

/** Convolutions of drawn sizes and attributes, and of sizes at which each tile is taken. */
final class ConvCases {
    private static final List<DType> TYPES = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final List<UnaryFn> FUNCTIONS =
            List.of(UnaryFn.RELU, UnaryFn.GELU, UnaryFn.TANH, UnaryFn.HARD_SWISH);
    /** How many are drawn, and from which on: processes share them out, and the first runs those that are not drawn. */
    private static final int DRAWN = Integer.getInteger("tenon.convolutions", 240);

    private static final int FIRST = Integer.getInteger("tenon.convolutions.first", 0);
    private static final long MOST_MULTIPLICATIONS = 400_000;

    /** Images, height, width, channels, outputs, side of the window, stride, padding, dilation. */
    private static final long[][] WARPGROUPS = {
        {1, 5, 7, 8, 8, 1, 1, 0, 1},
        {2, 13, 11, 64, 64, 3, 1, 1, 1},
        {3, 14, 9, 72, 136, 3, 2, 1, 1},
        {1, 16, 16, 40, 264, 3, 1, 2, 2},
        {2, 9, 8, 128, 48, 1, 2, 0, 1},
        {1, 23, 5, 16, 128, 5, 1, 2, 1},
        {1, 7, 7, 320, 80, 3, 1, 1, 1},
        {5, 1, 1, 96, 200, 1, 1, 0, 1}
    };

    /** The same, where blocks that keep their weights have one, two and three tiles; the longest whose weights fit. */
    private static final long[][] KEPT_WEIGHTS = {
        {1, 17, 15, 24, 40, 1, 1, 0, 1},
        {1, 93, 92, 8, 72, 1, 1, 0, 1},
        {1, 187, 183, 8, 8, 1, 1, 0, 1},
        {1, 131, 131, 8, 8, 2, 1, 1, 1},
        {1, 20, 23, 136, 264, 1, 2, 0, 1},
        {1, 14, 9, 72, 136, 3, 2, 1, 1},
        {1, 9, 11, 16, 200, 3, 1, 2, 2},
        {1, 6, 7, 640, 16, 1, 1, 0, 1}
    };

    private final List<KernelCase> cases = new ArrayList<>();

    private final Function<KernelStage, StepRun> runs;
    private final Consumer<String> tiers;

    private ConvCases(Function<KernelStage, StepRun> runs, Consumer<String> tiers) {
        this.runs = runs;
        this.tiers = tiers;
    }

    static List<KernelCase> all() {
        return all(stage -> new StepRun(stage, Blas.none("not asked"), Precision.FAST), _ -> {});
    }

    /**
     * The cases as another step runs them.
     *
     * @param tiers told of each that ran
     */
    static List<KernelCase> all(Function<KernelStage, StepRun> runs, Consumer<String> tiers) {
        ConvCases all = new ConvCases(runs, tiers);
        for (int seed = FIRST; seed < FIRST + DRAWN; seed++) {
            all.draw(seed);
        }
        for (DType type : FIRST == 0 ? TYPES : List.<DType>of()) {
            all.channelsLast(type, new long[] {2, 13, 11, 24}, 40, 1, 3, 1);
            all.channelsLast(type, new long[] {1, 15, 14, 64}, 33, 1, 3, 2);
            all.channelsLast(type, new long[] {3, 9, 8, 32}, 48, 2, 1, 1);
            all.channelsLast(type, new long[] {1, 7, 7, 20}, 12, 2, 3, 1);
            all.channelsLast(type, new long[] {2, 21, 19, 3}, 32, 1, 3, 2);
            all.depthwiseLast(type);
            all.infinite(type);
            all.plane(type, new long[] {1, 64, 12, 11}, 96, 3, 1);
            all.plane(type, new long[] {2, 24, 31, 30}, 40, 3, 1);
            all.plane(type, new long[] {1, 40, 40, 41}, 130, 1, 1);
            all.plane(type, new long[] {1, 3, 45, 47}, 32, 7, 2);
            all.plane(type, new long[] {1, 512, 3, 3}, 48, 3, 1);
            for (long kernel : new long[] {3, 5}) {
                all.depthwise(type, kernel, 1);
                all.depthwise(type, kernel, 2);
            }
            all.plane(type, new long[] {2, 24, 64, 63}, 128, 1, 1);
            all.plane(type, new long[] {3, 24, 64, 63}, 32, 1, 1);
        }
        return all.cases;
    }

    /** By warpgroups, on devices that have them: around tiles and their parts, with every function. Else by choice. */
    static List<KernelCase> warpgroups() {
        List<KernelCase> all = new ArrayList<>(warpgroups(ConvForm.WARPGROUPS_FETCHING, WARPGROUPS));
        all.addAll(warpgroups(ConvForm.WARPGROUPS_KEEPING, KEPT_WEIGHTS));
        return all;
    }

    private static List<KernelCase> warpgroups(ConvForm form, long[][] sizes) {
        ConvCases all =
                new ConvCases(stage -> new StepRun(stage, Blas.none("not asked"), Precision.FAST).with(form), _ -> {});
        Epilogue bias = Epilogue.NONE.withBias();
        List<Epilogue> epilogues = List.of(
                Epilogue.NONE,
                bias.withActivation(Unary.of(UnaryFn.RELU)),
                bias.withActivation(Unary.of(UnaryFn.HARD_SWISH)).withResidual(),
                bias.withResidual().withActivation(new Unary(UnaryFn.SILU, 1.5, 0)));
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (int i = 0; i < sizes.length; i++) {
                long[] size = sizes[i];
                for (int e = i % 2; e < epilogues.size(); e += 2) {
                    Epilogue epilogue = epilogues.get(e);
                    Conv conv =
                            new Conv(each(size[6]), each(size[7]), List.of(size[7], 0L), each(size[8]), 1, epilogue);
                    long[] x = Arrays.copyOf(size, 4);
                    all.add(new ChannelsLastConv(conv), epilogue, type, i, x, new long[] {
                        size[4], size[5], size[5], size[3]
                    });
                    if (type == DType.F32) { // whose results may have their channels second
                        long[] w = {size[4], size[3], size[5], size[5]};
                        all.add(conv, epilogue, type, i, new long[] {size[0], size[3], size[1], size[2]}, w);
                    }
                }
            }
            Conv conv = new Conv(each(2), each(1), each(2), each(1), 1, bias);
            all.infinite(new ChannelsLastConv(conv), type, new long[] {2, 9, 8, 48}, new long[] {48, 3, 3, 48});
        }
        return all.cases;
    }

    /** A convolution with every attribute drawn, as large as the reference has time for. */
    private void draw(int seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L); // neighbours would begin alike
        int axes = 1 + Math.min(2, random.nextInt(8) % 3);
        long groups = random.nextInt(4) == 0 ? 1 + random.nextInt(4) : 1;
        boolean depthwise = random.nextInt(6) == 0;
        long channels = depthwise ? 1 : 1 + random.nextInt(random.nextBoolean() ? 8 : 40);
        long outputs = depthwise ? 1 + random.nextInt(2) : 1 + random.nextInt(random.nextBoolean() ? 12 : 70);
        groups = depthwise ? 1 + random.nextInt(19) : groups;
        List<Long> strides = drawn(random, axes, 1, 3);
        List<Long> before = drawn(random, axes, 0, 2);
        List<Long> after = drawn(random, axes, 0, 2);
        List<Long> dilations = drawn(random, axes, 1, random.nextBoolean() ? 1 : 3);
        List<Long> kernel = drawn(random, axes, 1, axes == 1 ? 9 : 4);
        boolean transposed = random.nextInt(3) == 0;
        List<Long> input = new ArrayList<>();
        long work = groups * channels * outputs;
        for (int i = 0; i < axes; i++) {
            long reach = (kernel.get(i) - 1) * dilations.get(i) + 1;
            long least =
                    transposed ? 1 + (before.get(i) + after.get(i)) : Math.max(1, reach - before.get(i) - after.get(i));
            long most = axes == 1 ? 200 : axes == 2 ? 24 : 7;
            input.add(least + random.nextInt((int) most));
            work *= input.get(i) * kernel.get(i);
        }
        long batch = Math.clamp(MOST_MULTIPLICATIONS / Math.max(1, work), 1, 3);
        Epilogue epilogue = epilogue(random);
        DType type = TYPES.get(seed % TYPES.size());
        long[] x = sizes(batch, groups * channels, input);
        if (transposed) {
            List<Long> padding = strides.stream()
                    .map(stride -> (long) random.nextInt((int) (long) stride))
                    .toList();
            Op op = new ConvTranspose(strides, before, after, dilations, padding, groups, epilogue);
            add(op, epilogue, type, seed, x, sizes(groups * channels, outputs, kernel));
        } else {
            Op op = new Conv(strides, before, after, dilations, groups, epilogue);
            add(op, epilogue, type, seed, x, sizes(groups * outputs, channels, kernel));
        }
    }

    private static Epilogue epilogue(Random random) {
        Epilogue epilogue = Epilogue.NONE;
        if (random.nextBoolean()) {
            epilogue = epilogue.withBias();
        }
        if (random.nextBoolean()) {
            epilogue = epilogue.withActivation(Unary.of(FUNCTIONS.get(random.nextInt(FUNCTIONS.size()))));
        }
        if (random.nextInt(3) != 0) {
            return epilogue;
        }
        Epilogue added = epilogue.withResidual();
        Unary last = epilogue.activation();
        // half of them before the activation
        return last == null || random.nextBoolean() ? added : added.withActivation(last);
    }

    private static List<Long> drawn(Random random, int count, int least, int most) {
        List<Long> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            values.add((long) least + random.nextInt(most - least + 1));
        }
        return values;
    }

    private static long[] sizes(long first, long second, List<Long> rest) {
        long[] all = new long[2 + rest.size()];
        all[0] = first;
        all[1] = second;
        for (int i = 0; i < rest.size(); i++) {
            all[2 + i] = rest.get(i);
        }
        return all;
    }

    private void plane(DType type, long[] x, long outputs, long kernel, long stride) {
        Epilogue epilogue = Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU));
        Op op = new Conv(each(stride), each(kernel / 2), each(kernel / 2), each(1), 1, epilogue);
        add(op, epilogue, type, outputs, x, new long[] {outputs, x[1], kernel, kernel});
    }

    /** The same convolutions with their channels innermost. */
    private void channelsLast(DType type, long[] x, long outputs, long groups, long kernel, long stride) {
        Epilogue epilogue = Epilogue.NONE
                .withBias()
                .withActivation(Unary.of(UnaryFn.HARD_SWISH))
                .withResidual();
        Conv conv = new Conv(each(stride), each(kernel / 2), each(kernel / 2), each(1), groups, epilogue);
        long[] w = {outputs, kernel, kernel, x[3] / groups};
        add(new ChannelsLastConv(conv), epilogue, type, outputs, x, w);
    }

    private void depthwise(DType type, long kernel, long stride) {
        Epilogue epilogue = Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.HARD_SWISH));
        Op op = new Conv(each(stride), each(kernel / 2), List.of(kernel / 2, 0L), each(1), 21, epilogue);
        add(op, epilogue, type, kernel, new long[] {2, 21, 13, 18}, new long[] {21, 1, kernel, kernel});
    }

    /** Few results, and enough for the forms of several positions per thread; odd numbers of packs; awkward windows. */
    private void depthwiseLast(DType type) {
        for (long[] form : new long[][] {{3, 1}, {3, 2}, {5, 1}, {5, 2}, {7, 1}, {7, 2}, {4, 3}}) {
            long kernel = form[0];
            for (long[] x : new long[][] {{2, 9, 10, 24}, {3, 23, 21, 264}}) {
                Epilogue epilogue = Epilogue.NONE
                        .withBias()
                        .withResidual()
                        .withActivation(Unary.of(kernel == 3 ? UnaryFn.RELU : UnaryFn.HARD_SWISH));
                Conv conv = new Conv(
                        each(form[1]),
                        each(kernel / 2),
                        List.of(kernel / 2, 0L),
                        each(kernel == 4 ? 2 : 1),
                        x[3],
                        epilogue);
                add(new ChannelsLastConv(conv), epilogue, type, kernel, x, new long[] {x[3], kernel, kernel, 1});
            }
        }
    }

    /** Weights or images that are not finite, over padding: the cells there are left out. */
    private void infinite(DType type) {
        Epilogue epilogue = Epilogue.NONE.withBias();
        for (long groups : new long[] {1, 2, 48}) {
            Conv conv = new Conv(each(2), each(1), each(2), each(1), groups, epilogue);
            infinite(conv, type, new long[] {2, 48, 9, 8}, new long[] {48, 48 / groups, 3, 3});
            infinite(new ChannelsLastConv(conv), type, new long[] {2, 9, 8, 48}, new long[] {48, 3, 3, 48 / groups});
        }
        Conv few = new Conv(each(2), each(1), each(2), each(1), 1, epilogue);
        infinite(few, type, new long[] {2, 3, 9, 8}, new long[] {48, 3, 3, 3});
        infinite(new ChannelsLastConv(few), type, new long[] {2, 9, 8, 3}, new long[] {48, 3, 3, 3});
        for (long channels : new long[] {2, 8, 16, 64}) { // a library has other kernels for each
            for (long outputs : new long[] {8, 12}) {
                long[] window = {outputs, 3, 3, channels};
                cases.add(infinite(new ChannelsLastConv(few), type, new long[] {2, 9, 8, channels}, window, false));
            }
        }
        Op deep = new Conv(each(1), each(1), each(1), each(1), 1, epilogue);
        infinite(deep, type, new long[] {1, 512, 5, 5}, new long[] {48, 512, 3, 3});
        Op transposed = new ConvTranspose(each(2), each(1), each(1), each(1), each(1), 1, epilogue);
        infinite(transposed, type, new long[] {1, 40, 5, 6}, new long[] {40, 48, 3, 3});
    }

    private void infinite(Op op, DType type, long[] x, long[] w) {
        cases.add(infinite(op, type, x, w, true));
        cases.add(infinite(op, type, x, w, false));
    }

    private KernelCase infinite(Op op, DType type, long[] x, long[] w, boolean ofWeights) {
        TensorType image = TensorType.of(type, x);
        TensorType weights = TensorType.of(type, w);
        String what = image + " by " + weights + " " + (ofWeights ? "" : "image ") + "not all finite, " + op.mnemonic();
        return new KernelCase("conv", what, stage -> {
            Random random = new Random(image.hashCode());
            // of the sum behind a result, as in add
            long channels = op instanceof ConvTranspose ? w[0] : Shape.of(w).elements(1, w.length) / 9;
            long depth = channels * 9;
            long outputs = w[op instanceof ConvTranspose ? 1 : 0];
            NdArray pixels = normal(random, image, 1);
            NdArray factors = normal(random, weights, 1 / Math.sqrt((double) depth));
            NdArray some = ofWeights ? factors : pixels;
            double[] others = {Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};
            for (int i = 0; i < (ofWeights ? 24 : 6); i++) {
                some.set(random.nextInt(some.size()), others[i % 3]);
            }
            compare(stage, op, List.of(pixels, factors, normal(random, TensorType.of(type, outputs), 1)), depth);
        });
    }

    private static List<Long> each(long value) {
        return Collections.nCopies(2, value);
    }

    private void add(Op op, Epilogue epilogue, DType type, long seed, long[] x, long[] w) {
        TensorType image = TensorType.of(type, x);
        TensorType weights = TensorType.of(type, w);
        String what = image + " by " + weights + " seed " + seed + " " + op.mnemonic();
        cases.add(new KernelCase("conv", what, stage -> {
            Random random = new Random(seed);
            boolean transposed = op instanceof ConvTranspose;
            long depth = transposed
                    ? w[0] * Shape.of(w).elements(2, w.length)
                    : Shape.of(w).elements(1, w.length);
            List<NdArray> inputs = new ArrayList<>(List.of(
                    normal(random, image, 1), normal(random, weights, 1 / Math.sqrt((double) Math.max(1, depth)))));
            long channels = op instanceof ConvTranspose transpose ? w[1] * transpose.groups() : w[0];
            if (epilogue.bias()) {
                inputs.add(normal(random, TensorType.of(type, channels), 1));
            }
            if (epilogue.residual()) {
                inputs.add(normal(random, residual(op, inputs), 1));
            }
            compare(stage, op, inputs, depth);
        }));
    }

    private static TensorType residual(Op op, List<NdArray> inputs) {
        Op plain = op instanceof ChannelsLastConv(Conv conv)
                ? new ChannelsLastConv(conv.with(Epilogue.NONE))
                : (Op) ((Contraction) op).with(Epilogue.NONE);
        List<Shape> shapes = inputs.subList(0, 2).stream().map(NdArray::shape).toList();
        return new TensorType(inputs.getFirst().dtype(), plain.shapes(shapes).getFirst());
    }

    /** Normal deviates, rounded to their type. */
    static NdArray normal(Random random, TensorType type, double scale) {
        double[] values = new double[(int) type.shape().elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = Tolerance.rounded(type.dtype(), random.nextGaussian() * scale);
        }
        return NdArray.of(type, values);
    }

    private void compare(KernelStage stage, Op op, List<NdArray> inputs, long depth) {
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        StepRun.Result result = runs.apply(stage).run(op, inputs);
        tiers.accept(result.step().tier());
        DType dtype = expected.dtype();
        // TF32 has as many digits as f16; its roundings add up as a sum's do
        boolean rounded = result.step().tier().contains("TF32");
        // a library's sums of halves are rounded before our kernel finishes them, at magnitudes of a few
        boolean twice = result.step().tier().contains("conv_finish") && dtype.bytes() == 2;
        double step = rounded ? 4 * Tolerance.epsilon(DType.F16) : twice ? 3 * Tolerance.epsilon(dtype) : 0;
        Tolerance base = Tolerance.of(dtype, depth);
        new Tolerance(base.relative() + step, base.absolute() + step)
                .check(result.step().tier(), expected, result.output());
    }
}
