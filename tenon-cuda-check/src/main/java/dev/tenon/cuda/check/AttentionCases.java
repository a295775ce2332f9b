package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;

/** Attention by both kernels against its definition. */
final class AttentionCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    /** Queries, keys, heads, elements of a head. */
    private static final int[][] SIZES = {
        {1, 1, 1, 1},
        {3, 5, 2, 4},
        {16, 16, 12, 32},
        {17, 33, 1, 32},
        {1, 129, 2, 64},
        {65, 63, 1, 16},
        {31, 64, 2, 48},
        {70, 70, 1, 128},
        {5, 40, 1, 80},
        {4, 9, 1, 256},
        {70, 75, 1, 33},
        {66, 40, 1, 96},
        {33, 20, 1, 200},
        {3, 300, 2, 128},
        {16, 200, 1, 80},
        {2, 135, 1, 256},
        {2, 130, 1, 7},
        {130, 300, 1, 64},
        {129, 270, 1, 112},
        {70, 75, 2, 40},
        {130, 100, 3, 32},
        {200, 128, 1, 64},
        {2, 0, 2, 32},
        {0, 3, 2, 32}
    };

    private final BiFunction<KernelStage, Precision, StepRun> with;

    private AttentionCases(BiFunction<KernelStage, Precision, StepRun> with) {
        this.with = with;
    }

    /** Cases by our kernels. */
    static List<KernelCase> all() {
        return all((stage, precision) -> new StepRun(stage, Blas.none("not asked"), precision));
    }

    /** Cases whose steps run so. */
    static List<KernelCase> all(BiFunction<KernelStage, Precision, StepRun> with) {
        return new AttentionCases(with).cases();
    }

    private List<KernelCase> cases() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (int[] size : SIZES) {
                for (Precision precision : dtype == DType.F32 ? Precision.values() : new Precision[] {Precision.FAST}) {
                    cases.add(plain(dtype, size, precision));
                    cases.add(seen(dtype, size, precision));
                }
            }
        }
        for (DType dtype : FLOATS) {
            cases.add(new KernelCase("attention", "unseen values " + dtype, stage -> unseen(stage, dtype)));
            cases.add(new KernelCase("attention", "least masks " + dtype, stage -> leastMasks(stage, dtype)));
            cases.add(new KernelCase("attention", "guarded " + dtype, stage -> guarded(stage, dtype)));
        }
        cases.addAll(new AttentionMaskCases(this).all(FLOATS));
        cases.add(new KernelCase("attention", "causal, heads past the second cache", true, this::manyKeys));
        cases.add(new KernelCase("attention", "rows of -inf", this::infinities));
        cases.add(new KernelCase("attention", "AT-01 bottom right", this::bottomRight));
        cases.add(new KernelCase("attention", "AT-02 masked rows", this::maskedRows));
        cases.add(new KernelCase("attention", "AT-03 groups", this::groups));
        cases.add(new KernelCase("attention", "AT-05 window", this::window));
        cases.add(new KernelCase("attention", "AT-06 head sizes", this::headSizes));
        return cases;
    }

    private KernelCase plain(DType dtype, int[] size, Precision precision) {
        String what = "plain " + dtype + " " + precision + " " + Arrays.toString(size);
        return new KernelCase("attention", what, stage -> {
            Random random = new Random(size[0] * 31L + size[3]);
            List<NdArray> inputs = new ArrayList<>(List.of(
                    CaseArrays.normal(random, dtype, 2, size[0], size[2], size[3]),
                    CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3]),
                    CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3])));
            double scale = 1 / Math.sqrt(size[3]);
            compare(stage, precision, new PlainAttention(false, scale), inputs, size);
            inputs.add(CaseArrays.normal(random, dtype, 2, 1, 1, size[1]));
            compare(stage, precision, new PlainAttention(true, scale), inputs, size);
            NdArray packed = CaseArrays.normal(random, dtype, 2, size[1], 3, size[2], size[3]);
            compare(stage, precision, new PlainAttention(false, true, scale, false), List.of(packed), size);
            compare(
                    stage,
                    precision,
                    new PlainAttention(true, true, scale, false),
                    List.of(packed, inputs.getLast()),
                    size);
        });
    }

    private KernelCase seen(DType dtype, int[] size, Precision precision) {
        String what = "seen " + dtype + " " + precision + " " + Arrays.toString(size);
        return new KernelCase("attention", what, stage -> {
            Random random = new Random(size[1] * 31L + size[3]);
            List<NdArray> inputs = new ArrayList<>(List.of(
                    CaseArrays.normal(random, dtype, 2, 2L * size[2], size[0], size[3]),
                    CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3]),
                    CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3])));
            compare(stage, precision, attention(false, 0, AttentionMask.NONE, 0), inputs, size);
            compare(stage, precision, attention(true, 3, AttentionMask.NONE, 2), inputs, size);
            NdArray mask = NdArray.zeros(DType.BOOL, size[0], size[1]);
            for (int i = 0; i < mask.size(); i++) {
                mask.set(i, random.nextBoolean() ? 1L : 0L);
            }
            inputs.add(mask);
            compare(stage, precision, attention(true, 0, AttentionMask.BOOLEAN, 0), inputs, size);
            NdArray added = CaseArrays.normal(random, dtype, 2, 2L * size[2], size[0], size[1]);
            for (int i = 0; i < added.size(); i += 3) {
                added.set(i, Double.NEGATIVE_INFINITY);
            }
            inputs.set(3, added);
            compare(stage, precision, attention(false, 5, AttentionMask.ADDITIVE, 1.5), inputs, size);
            compare(stage, precision, attention(true, 0, AttentionMask.ADDITIVE, 0), inputs, size);
        });
    }

    /** Keys and values of more heads than blocks take together: eight, where those of one have 4 MB. */
    private void manyKeys(KernelStage stage) {
        Random random = new Random(5);
        int[] size = {66, 4200, 9, 256};
        List<NdArray> inputs = new ArrayList<>();
        for (int tokens : new int[] {size[0], size[1], size[1]}) {
            inputs.add(CaseArrays.normal(random, DType.F16, 1, size[2], tokens, size[3]));
        }
        compare(stage, Precision.FAST, attention(true, 0, AttentionMask.NONE, 0), inputs, size);
    }

    static Attention attention(boolean causal, long window, AttentionMask mask, double cap) {
        return new Attention(causal, window, mask, Double.NaN, cap);
    }

    /** Runs an attention and compares it with its definition; sizes as in {@link #SIZES}. */
    void compare(KernelStage stage, Precision precision, Op op, List<NdArray> inputs, int[] size) {
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        StepRun.Result result = with.apply(stage, precision).run(op, inputs);
        DType dtype = expected.dtype();
        // weights are rounded to the operands' type, TF32 has as many digits as f16, before they are summed
        boolean tensorCores = !result.step().tier().startsWith("attention,");
        double step = !tensorCores ? 0 : Tolerance.epsilon(dtype == DType.F32 ? DType.F16 : dtype);
        Tolerance base = Tolerance.of(dtype, size[1] + size[3]);
        new Tolerance(base.relative() + 2 * step, base.absolute() + 2 * step)
                .check(result.step().tier(), expected, result.output());
    }

    /** Keys that are not seen have no part, whatever their values; those that are seen have. */
    private void unseen(KernelStage stage, DType dtype) {
        for (int[] size : new int[][] {{70, 70, 2, 64}, {2, 150, 2, 32}, {130, 280, 1, 128}, {130, 130, 2, 64}}) {
            Random random = new Random(size[1]);
            NdArray q = CaseArrays.normal(random, dtype, 1, 2L * size[2], size[0], size[3]);
            NdArray k = CaseArrays.normal(random, dtype, 1, size[2], size[1], size[3]);
            NdArray v = CaseArrays.normal(random, dtype, 1, size[2], size[1], size[3]);
            NdArray mask = NdArray.zeros(DType.BOOL, size[0], size[1]);
            for (int i = 0; i < mask.size(); i++) {
                mask.set(i, i % size[1] < size[1] - 9 ? 1L : 0L);
            }
            // the last key's values never, the one before in part of the rows
            for (int c = 0; c < size[3]; c++) {
                int last = (size[1] - 1) * size[3] + c;
                v.set(last, c % 2 == 0 ? Double.NaN : Double.POSITIVE_INFINITY);
                k.set(last, Double.NaN);
                v.set(last - 20 * size[3], c % 2 == 0 ? Double.NEGATIVE_INFINITY : 1.0);
            }
            compare(stage, Precision.FAST, attention(false, 0, AttentionMask.BOOLEAN, 0), List.of(q, k, v, mask), size);
            compare(stage, Precision.FAST, attention(true, 0, AttentionMask.BOOLEAN, 0), List.of(q, k, v, mask), size);
            compare(stage, Precision.FAST, attention(true, 7, AttentionMask.NONE, 3), List.of(q, k, v), size);
            compare(stage, Precision.FAST, attention(true, 0, AttentionMask.NONE, 0), List.of(q, k, v), size);
        }
    }

    /**
     * Weights that are NaN count as 0: of queries that see no key, and of queries that are not numbers. A value that is
     * not finite is NaN all the same, for those as for others that give it no weight.
     */
    private void guarded(KernelStage stage, DType dtype) {
        for (int[] size : new int[][] {{70, 70, 2, 32}, {2, 150, 2, 32}, {33, 130, 1, 64}, {70, 100, 1, 64}}) {
            Random random = new Random(size[1]);
            NdArray q = CaseArrays.normal(random, dtype, 2, size[0], size[2], size[3]);
            NdArray k = CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3]);
            NdArray v = CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3]);
            NdArray byKey = NdArray.zeros(dtype, 2, 1, 1, size[1]);
            NdArray byQuery = NdArray.zeros(dtype, 2, 1, size[0], size[1]);
            double none = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < byKey.size(); i++) {
                byKey.set(i, i < size[1] - 5 ? 0 : none);
            }
            for (int i = 0; i < byQuery.size(); i++) {
                byQuery.set(i, i / size[1] % 3 == 1 || i % 7 == 2 ? none : 0);
            }
            double scale = 1 / Math.sqrt(size[3]);
            for (Precision precision : dtype == DType.F32 ? Precision.values() : new Precision[] {Precision.FAST}) {
                PlainAttention plain = new PlainAttention(false, false, scale, true);
                PlainAttention masked = new PlainAttention(true, false, scale, true);
                compare(stage, precision, plain, List.of(q, k, v), size);
                compare(stage, precision, masked, List.of(q, k, v, byKey), size);
                compare(stage, precision, masked, List.of(q, k, v, byQuery), size);
                NdArray odd = with(q, size[3] + 1, Double.NaN);
                compare(stage, precision, plain, List.of(odd, k, v), size);
                compare(stage, precision, masked, List.of(odd, k, v, byKey), size);
                NdArray infinite = with(v, 3, Double.POSITIVE_INFINITY);
                compare(stage, precision, masked, List.of(odd, k, infinite, byKey), size);
                compare(stage, precision, masked, List.of(q, k, infinite, byQuery), size);
            }
        }
    }

    private static NdArray with(NdArray array, int at, double element) {
        NdArray changed = NdArray.of(array.type(), array.toDoubles());
        changed.set(at, element);
        return changed;
    }

    /** A row whose scores are all the least number, as padding masks of exporters have it, averages its values. */
    private void leastMasks(KernelStage stage, DType dtype) {
        double least = dtype == DType.F16 ? -65504 : dtype == DType.BF16 ? -3.3895313892515355e38 : -Float.MAX_VALUE;
        for (int[] size : new int[][] {{20, 20, 1, 32}, {1, 140, 1, 32}, {70, 80, 1, 40}}) {
            Random random = new Random(size[1]);
            NdArray q = CaseArrays.normal(random, dtype, 2, size[0], 1, size[3]);
            NdArray k = CaseArrays.normal(random, dtype, 2, size[1], 1, size[3]);
            NdArray v = CaseArrays.normal(random, dtype, 2, size[1], 1, size[3]);
            NdArray mask = NdArray.zeros(dtype, 2, 1, 1, size[1]);
            for (int i = 0; i < mask.size(); i++) {
                mask.set(i, i < size[1] || i % 3 == 0 ? least : 0);
            }
            if (dtype == DType.F16) {
                q = NdArray.zeros(dtype, 2, size[0], 1, size[3]); // scores would count beside so small a number
            }
            PlainAttention op = new PlainAttention(true, Math.sqrt(1.0 / size[3]));
            compare(stage, Precision.FAST, op, List.of(q, k, v, mask), size);
        }
    }

    /** Plain attention is its formula: a row of -inf is NaN and leaves its neighbours alone. */
    private void infinities(KernelStage stage) {
        for (Precision precision : Precision.values()) {
            NdArray q = NdArray.zeros(DType.F32, 1, 3, 1, 32);
            NdArray k = NdArray.zeros(DType.F32, 1, 2, 1, 32);
            NdArray v = NdArray.zeros(DType.F32, 1, 2, 1, 32);
            for (int i = 0; i < 32; i++) {
                v.set(32 + i, 4.0);
            }
            double none = Double.NEGATIVE_INFINITY;
            NdArray mask = array(new long[] {1, 1, 3, 2}, 0, 0, none, none, none, 0);
            double[] y = with.apply(stage, precision)
                    .run(new PlainAttention(true, 1), List.of(q, k, v, mask))
                    .output()
                    .toDoubles();
            for (int i = 0; i < 32; i++) {
                equal(new double[] {y[i], y[32 + i], y[64 + i]}, 2, Double.NaN, 4);
            }
        }
    }

    private void bottomRight(KernelStage stage) {
        Attention causal = attention(true, 0, AttentionMask.NONE, 0);
        equal(single(stage, causal, 2, 1, 2, 3, 4, 5), 2.5, 3);
        equal(single(stage, causal, 5, 10, 20), 0, 0, 0, 10, 15);
        equal(single(stage, causal, 1, 1, 2, 3, 4, 5), 3);
    }

    /** Queries and keys of zeros, one element a head. */
    private double[] single(KernelStage stage, Attention op, int queries, double... values) {
        int keys = values.length;
        return with.apply(stage, Precision.STRICT)
                .run(
                        op,
                        List.of(
                                NdArray.zeros(DType.F32, 1, 1, queries, 1),
                                NdArray.zeros(DType.F32, 1, 1, keys, 1),
                                array(new long[] {1, 1, keys, 1}, values)))
                .output()
                .toDoubles();
    }

    private void maskedRows(KernelStage stage) {
        NdArray zeros = NdArray.zeros(DType.F32, 1, 1, 3, 1);
        NdArray v = array(new long[] {1, 1, 3, 1}, 1, 2, 3);
        NdArray mask = NdArray.of(TensorType.of(DType.BOOL, 3, 3), 0L, 0L, 0L, 1L, 0L, 1L, 1L, 1L, 1L);
        equal(masked(stage, false, zeros, zeros, v, mask), 0, 2, 2);
        equal(masked(stage, true, zeros, zeros, v, mask), 0, 1, 2);
        NdArray poisoned = array(new long[] {1, 1, 3, 1}, Double.NaN, 0, 0);
        equal(masked(stage, false, zeros, poisoned, v, mask), 0, Double.NaN, Double.NaN);
        Attention unscaled = new Attention(false, 0, AttentionMask.BOOLEAN, 1, 0);
        double[] far = with.apply(stage, Precision.STRICT)
                .run(
                        unscaled,
                        List.of(
                                array(new long[] {1, 1, 1, 1}, -20000),
                                array(new long[] {1, 1, 2, 1}, 1, 0),
                                array(new long[] {1, 1, 2, 1}, 1, 100),
                                NdArray.of(TensorType.of(DType.BOOL, 1, 2), 1L, 0L)))
                .output()
                .toDoubles();
        equal(far, 1);
    }

    private double[] masked(KernelStage stage, boolean causal, NdArray q, NdArray k, NdArray v, NdArray mask) {
        Attention op = attention(causal, 0, AttentionMask.BOOLEAN, 0);
        return with.apply(stage, Precision.STRICT)
                .run(op, List.of(q, k, v, mask))
                .output()
                .toDoubles();
    }

    private void groups(KernelStage stage) {
        NdArray q = array(new long[] {1, 4, 1, 2}, 1, 1, 1, 1, 1, 1, 1, 1);
        NdArray k = array(new long[] {1, 2, 1, 2}, 1, 1, 1, 1);
        NdArray v = array(new long[] {1, 2, 1, 2}, 10, 10, 20, 20);
        Attention op = attention(false, 0, AttentionMask.NONE, 0);
        equal(
                with.apply(stage, Precision.STRICT)
                        .run(op, List.of(q, k, v))
                        .output()
                        .toDoubles(),
                10,
                10,
                10,
                10,
                20,
                20,
                20,
                20);
    }

    private void window(KernelStage stage) {
        double[] v = {0, 1, 2, 3, 4, 5};
        equal(single(stage, attention(true, 3, AttentionMask.NONE, 0), 6, v), 0, 0.5, 1, 2, 3, 4);
        equal(single(stage, attention(true, 1, AttentionMask.NONE, 0), 6, v), v);
        double[] all = {0, 0.5, 1, 1.5, 2, 2.5};
        equal(single(stage, attention(true, 6, AttentionMask.NONE, 0), 6, v), all);
        equal(single(stage, attention(true, 100, AttentionMask.NONE, 0), 6, v), all);
        equal(single(stage, attention(true, 3, AttentionMask.NONE, 0), 1, v), 4);
    }

    private void headSizes(KernelStage stage) {
        for (DType dtype : List.of(DType.F32, DType.F16)) {
            for (int d : new int[] {1, 80, 256, 300, 512}) {
                NdArray q = NdArray.zeros(dtype, 1, 1, 1, d);
                NdArray k = NdArray.zeros(dtype, 1, 1, 2, d);
                NdArray v = NdArray.zeros(dtype, 1, 1, 2, d);
                for (int i = 0; i < d; i++) {
                    q.set(i, 1.0);
                    k.set(d + i, Tolerance.rounded(dtype, Math.log(3) / Math.sqrt(d)));
                    v.set(d + i, 4.0);
                }
                Attention op = attention(false, 0, AttentionMask.NONE, 0);
                NdArray y = with.apply(stage, Precision.STRICT)
                        .run(op, List.of(q, k, v))
                        .output();
                double within = dtype == DType.F32 ? 1e-5 : 2e-2;
                for (int i = 0; i < d; i++) {
                    if (!(Math.abs(y.get(i) - 3) <= within)) {
                        throw new AssertionError(dtype + " head of " + d + ": element " + i + " is " + y.get(i));
                    }
                }
            }
        }
    }

    private static NdArray array(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    private static void equal(double[] actual, double... expected) {
        for (int i = 0; i < Math.max(actual.length, expected.length); i++) {
            boolean same = Double.isNaN(expected[i])
                    ? Double.isNaN(actual[i])
                    : Math.abs(actual[i] - expected[i]) <= 1e-6 * Math.max(1, Math.abs(expected[i]));
            if (!same) {
                throw new AssertionError("is " + Arrays.toString(actual) + "; expected " + Arrays.toString(expected));
            }
        }
    }
}
