package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What stands between the products of vision models: convolutions of single channels, norms of rows and groups. */
final class ChannelCases {
    private static final String STRIPS = "conv_depthwise_strip";
    private static final String GROUPS = "channel_norm";
    private static final String NORMS = "layernorm_short";
    private static final List<DType> TYPES = List.of(DType.F32, DType.F16, DType.BF16);
    private static final double EPSILON = 1e-5;

    private ChannelCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : TYPES) {
            for (long[] form : new long[][] {{3, 1}, {3, 2}, {5, 1}, {5, 2}, {7, 1}}) {
                strips(cases, type, form[0], form[1], 1, 2, 3, form[0] == 7 ? 8 : 56);
                strips(cases, type, form[0], form[1], 2, 9, 10, 24);
                strips(cases, type, form[0], form[1], 3, 23, 31, 264);
            }
            strips(cases, type, 7, 1, 1, 64, 15, 96);
            strips(cases, type, 7, 1, 9, 56, 29, 40);
            for (long width : new long[] {8, 16, 24, 32, 96, 104, 136, 256, 384, 512, 520, 768, 1024}) {
                cases.add(norm(type, 1 + width % 7, width));
                cases.add(norm(type, 70, width));
            }
            for (long[] form : new long[][] {{1, 1, 1, 8}, {2, 9, 7, 24}, {3, 33, 20, 136}, {1, 130, 65, 16}}) {
                for (long groups : new long[] {1, 4, form[3]}) {
                    groups(cases, type, groups, form);
                }
            }
            cases.add(new KernelCase(NORMS, "a constant row gives beta, " + type, stage -> constantRow(stage, type)));
            cases.add(new KernelCase(NORMS, "NaN stays in its row, " + type, stage -> special(stage, type)));
        }
        cases.add(new KernelCase(NORMS, "LN-01, a large mean", ChannelCases::largeMean));
        cases.add(new KernelCase(GROUPS, "LN-01, a large mean", ChannelCases::largeMeanOfGroups));
        cases.add(new KernelCase(GROUPS, "a first element far away", ChannelCases::farFirst));
        cases.add(new KernelCase(GROUPS, "NaN stays in its group", ChannelCases::specialGroups));
        return cases;
    }

    /** @param x its sizes, channels last */
    private static void strips(List<KernelCase> cases, DType type, long kernel, long stride, long... x) {
        TensorType image = TensorType.of(type, x);
        TensorType weights = TensorType.of(type, x[3], kernel, kernel, 1);
        String what = image + " by " + kernel + "x" + kernel + " stride " + stride;
        cases.add(new KernelCase(STRIPS, what, stage -> {
            Epilogue epilogue = Epilogue.NONE
                    .withBias()
                    .withResidual()
                    .withActivation(Unary.of(kernel == 3 ? UnaryFn.RELU : UnaryFn.HARD_SWISH));
            List<Long> before = Collections.nCopies(2, kernel / 2);
            List<Long> after = List.of(kernel / 2, kernel == 5 ? 1L : kernel / 2);
            List<Long> strides = Collections.nCopies(2, stride);
            Conv plain = new Conv(strides, before, after, Collections.nCopies(2, 1L), x[3], Epilogue.NONE);
            Random random = new Random(kernel + stride);
            NdArray pixels = ConvCases.normal(random, image, 1);
            NdArray factors = ConvCases.normal(random, weights, 1.0 / kernel);
            TensorType result = new TensorType(
                    type,
                    new ChannelsLastConv(plain)
                            .shapes(List.of(image.shape(), weights.shape()))
                            .getFirst());
            List<NdArray> inputs = List.of(
                    pixels,
                    factors,
                    ConvCases.normal(random, TensorType.of(type, x[3]), 1),
                    ConvCases.normal(random, result, 1));
            check(stage, STRIPS, new ChannelsLastConv(plain.with(epilogue)), inputs, kernel * kernel);
        }));
    }

    private static KernelCase norm(DType type, long rows, long width) {
        return new KernelCase(NORMS, "layernorm " + TensorType.of(type, rows, width), stage -> {
            Random random = new Random(width);
            List<NdArray> inputs = new ArrayList<>();
            inputs.add(ConvCases.normal(random, TensorType.of(type, rows, width), 2));
            if (width % 3 != 0) {
                inputs.add(ConvCases.normal(random, TensorType.of(type, width), 1));
            }
            if (width % 3 == 1) {
                inputs.add(ConvCases.normal(random, TensorType.of(type, width), 1));
            }
            LayerNorm op = new LayerNorm(1, EPSILON, inputs.size() > 1, inputs.size() > 2);
            boolean isShort = width * type.bytes() <= 2048;
            check(stage, isShort ? NORMS : "layernorm", op, inputs, width);
        });
    }

    private static void groups(List<KernelCase> cases, DType type, long groups, long... x) {
        TensorType image = TensorType.of(type, x);
        cases.add(new KernelCase(GROUPS, image + " in " + groups + " groups", stage -> {
            Random random = new Random(groups);
            boolean affine = groups != 4;
            List<NdArray> inputs = new ArrayList<>(List.of(ConvCases.normal(random, image, 2)));
            if (affine) {
                inputs.add(ConvCases.normal(random, TensorType.of(type, x[3]), 1));
                inputs.add(ConvCases.normal(random, TensorType.of(type, x[3]), 1));
            }
            check(stage, GROUPS, new ChannelsLastNorm(groups, EPSILON, affine), inputs, x[1] * x[2] * x[3] / groups);
        }));
    }

    private static void largeMeanOfGroups(KernelStage stage) {
        NdArray x = NdArray.zeros(TensorType.of(DType.F32, 1, 50, 8));
        for (int i = 0; i < x.size(); i++) {
            x.set(i, 40_000 + i % 7);
        }
        check(stage, GROUPS, new ChannelsLastNorm(2, EPSILON, false), List.of(x), 200);
        check(stage, GROUPS, new ChannelsLastNorm(8, EPSILON, false), List.of(x), 50);
    }

    /** An element a thousand deviations away, where differences would be taken from. */
    private static void farFirst(KernelStage stage) {
        NdArray x = ConvCases.normal(new Random(5), TensorType.of(DType.F32, 1, 128, 128, 8), 1);
        x.set(0, 1000.0);
        x.set(4, -1000.0);
        check(stage, GROUPS, new ChannelsLastNorm(2, EPSILON, false), List.of(x), 128 * 128);
        check(stage, GROUPS, new ChannelsLastNorm(8, EPSILON, false), List.of(x), 128 * 128);
    }

    private static void specialGroups(KernelStage stage) {
        NdArray x = ConvCases.normal(new Random(3), TensorType.of(DType.F32, 3, 50, 8), 1);
        x.set(3, Double.NaN); // of a first position
        x.set(400 + 37 * 8 + 6, Double.POSITIVE_INFINITY);
        check(stage, GROUPS, new ChannelsLastNorm(4, EPSILON, false), List.of(x), 100);
        NdArray same = CaseArrays.filled(DType.F32, () -> 617, 2, 9, 16);
        NdArray shift = CaseArrays.filled(DType.F32, () -> 0.25, 16);
        StepRun.Result result =
                new StepRun(stage).run(new ChannelsLastNorm(16, EPSILON, true), List.of(same, shift, shift));
        Tolerance.EXACT.check(GROUPS, CaseArrays.filled(DType.F32, () -> 0.25, 2, 9, 16), result.output());
    }

    private static void constantRow(KernelStage stage, DType type) {
        NdArray x = CaseArrays.filled(type, () -> 617, 5, 96);
        NdArray shift = CaseArrays.filled(type, () -> 0.25, 96);
        StepRun.Result result = new StepRun(stage).run(new LayerNorm(1, EPSILON, true, true), List.of(x, shift, shift));
        Tolerance.EXACT.check(NORMS, CaseArrays.filled(type, () -> 0.25, 5, 96), result.output());
    }

    private static void special(KernelStage stage, DType type) {
        Random random = new Random(3);
        NdArray x = ConvCases.normal(random, TensorType.of(type, 9, 96), 1);
        x.set(96 * 2 + 5, Double.NaN);
        x.set(96 * 6 + 95, Double.POSITIVE_INFINITY);
        NdArray row = ConvCases.normal(random, TensorType.of(type, 96), 1);
        check(stage, NORMS, new LayerNorm(1, EPSILON, true, true), List.of(x, row, row), 96);
    }

    private static void largeMean(KernelStage stage) {
        NdArray x = NdArray.of(TensorType.of(DType.F32, 1, 4), 40_000, 40_001, 40_002, 40_003);
        check(stage, NORMS, new LayerNorm(1, EPSILON, false, false), List.of(x), 4);
    }

    private static void check(KernelStage stage, String tier, Op op, List<NdArray> inputs, long depth) {
        StepRun.Result result = new StepRun(stage).run(op, inputs, List.of(1));
        if (!result.step().tier().contains(tier)) {
            throw new AssertionError(result.step().tier() + " is not " + tier);
        }
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        Tolerance.of(expected.dtype(), depth).check(result.step().tier(), expected, result.output());
    }
}
