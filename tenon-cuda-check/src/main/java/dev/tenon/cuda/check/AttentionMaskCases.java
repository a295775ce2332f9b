package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.lower.step.ProductForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Attention over few keys with masks of keys and of queries, and the same to the heads of a product.
 *
 * @param owner runs and compares
 */
record AttentionMaskCases(AttentionCases owner) {
    private static final String PRODUCT = "matmul_attention";
    private static final long MUCH = 4_000_000;

    /** Sequences, tokens, heads, elements of a head, sums: tiles of two heads and one, full or not, several a block. */
    private static final List<long[]> PROJECTED = List.of(
            new long[] {1, 66, 1, 32, 8},
            new long[] {2, 128, 3, 64, 192},
            new long[] {3, 97, 2, 64, 136},
            new long[] {2, 65, 5, 32, 320},
            new long[] {4, 128, 4, 32, 64},
            new long[] {40, 101, 7, 32, 72},
            new long[] {13, 128, 11, 64, 64});

    List<KernelCase> all(List<DType> dtypes) {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : dtypes) {
            cases.add(new KernelCase("attention", "masked keys " + dtype, stage -> maskedKeys(stage, dtype)));
            cases.add(new KernelCase("attention", "masks of queries " + dtype, stage -> queryMasks(stage, dtype)));
        }
        for (DType dtype : List.of(DType.F16, DType.BF16)) {
            for (long[] size : PROJECTED) {
                for (int flags = 0; flags < 4; flags++) {
                    cases.add(projected(dtype, size, flags));
                }
            }
        }
        return cases;
    }

    /** Attention to the heads of a product, with a bias or none, of weights along k or across. */
    private KernelCase projected(DType dtype, long[] size, int flags) {
        boolean bias = flags % 2 == 0;
        boolean along = flags / 2 == 0;
        MatMul product = new MatMul(false, along, bias ? Epilogue.NONE.withBias() : Epilogue.NONE);
        long work = size[0] * size[1] * size[2] * size[3] * (3 * size[4] + 2 * size[1]);
        String what = dtype + " " + Arrays.toString(size) + (bias ? ", bias" : "") + (along ? "" : ", [k,n]");
        return new KernelCase(PRODUCT, what, work > MUCH, stage -> {
            Random random = new Random(size[1] * 31 + size[4]);
            long columns = 3 * size[2] * size[3];
            double part = 1 / Math.sqrt((double) size[4]);
            List<NdArray> inputs = new ArrayList<>();
            inputs.add(CaseArrays.normal(random, dtype, size[0], size[1], size[4]));
            long[] lies = along ? new long[] {columns, size[4]} : new long[] {size[4], columns};
            inputs.add(CaseArrays.filled(dtype, () -> random.nextGaussian() * part, lies));
            if (bias) {
                inputs.add(CaseArrays.normal(random, dtype, columns));
            }
            boolean guarded = along;
            double scale = flags == 3 ? -0.1 : 1 / Math.sqrt((double) size[3]);
            PlainAttention open = new PlainAttention(false, true, scale, guarded);
            compareProjected(stage, new ProjectedAttention(product, open, size[2]), inputs);
            PlainAttention masked = new PlainAttention(true, true, scale, guarded);
            ProjectedAttention op = new ProjectedAttention(product, masked, size[2]);
            List<NdArray> masks = masks(random, dtype, size);
            for (NdArray mask : work > MUCH ? masks.subList(0, 1) : masks) {
                List<NdArray> all = new ArrayList<>(inputs);
                all.add(mask);
                compareProjected(stage, op, all);
                NdArray odd = CaseArrays.normal(random, dtype, size[0], size[1], size[4]);
                odd.set((int) (7 * size[4]), flags < 2 ? Double.NaN : Double.POSITIVE_INFINITY);
                all.set(0, odd);
                compareProjected(stage, op, all);
            }
        });
    }

    /** Of keys: for each sequence, for all, for each head. The last keys are hidden, of the last sequence all. */
    private static List<NdArray> masks(Random random, DType dtype, long[] size) {
        List<NdArray> masks = new ArrayList<>();
        for (long[] lead : new long[][] {{size[0], 1}, {1, 1}, {size[0], size[2]}}) {
            NdArray mask = CaseArrays.normal(random, dtype, lead[0], lead[1], 1, size[1]);
            double hidden = lead[1] == 1 ? Double.NEGATIVE_INFINITY : Tolerance.rounded(dtype, -1e4);
            for (int i = 0; i < mask.size(); i++) {
                boolean last = lead[0] > 1 && i >= mask.size() - size[1];
                if (last || i % size[1] > size[1] - 9 || i % 5 == 2) {
                    mask.set(i, hidden);
                }
            }
            masks.add(mask);
        }
        return masks;
    }

    private static void compareProjected(KernelStage stage, ProjectedAttention op, List<NdArray> inputs) {
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        StepRun.Result result = new StepRun(stage, Blas.none("not asked"), Precision.FAST)
                .with(ProductForm.RING)
                .run(op, inputs);
        String tier = result.step().tier();
        boolean has = stage.context().device().architecture().number() == 90;
        if (has && !tier.contains(PRODUCT)) {
            throw new AssertionError("it was made by " + tier + "; expected " + PRODUCT);
        }
        DType dtype = expected.dtype();
        // q, k and v may be rounded to either side, weights are rounded, and both are summed
        double step = Tolerance.epsilon(dtype);
        Tolerance once =
                Tolerance.of(dtype, expected.shape().size(1) + expected.shape().size(3));
        new Tolerance(once.relative() + 3 * step, once.absolute() + 3 * step).check(tier, expected, result.output());
    }

    /** Keys that a mask hides from all queries of a batch: those of the first at the end, those of the second all. */
    private void maskedKeys(KernelStage stage, DType dtype) {
        for (int[] size :
                new int[][] {{70, 70, 2, 32}, {20, 130, 1, 64}, {17, 200, 2, 40}, {130, 33, 1, 24}, {100, 100, 2, 48}
                }) {
            Random random = new Random(size[1]);
            NdArray q = CaseArrays.normal(random, dtype, 2, 2L * size[2], size[0], size[3]);
            NdArray k = CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3]);
            NdArray v = CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3]);
            NdArray seen = NdArray.zeros(DType.BOOL, 2, 1, 1, size[1]);
            NdArray added = NdArray.zeros(dtype, 2, 1, 1, size[1]);
            for (int i = 0; i < 2 * size[1]; i++) {
                seen.set(i, i < size[1] - 5 ? 1L : 0L);
                added.set(i, i < size[1] - 5 ? Tolerance.rounded(dtype, 0.1 * (i % 7)) : Double.NEGATIVE_INFINITY);
            }
            for (NdArray mask : List.of(seen, added)) {
                AttentionMask kind = mask == seen ? AttentionMask.BOOLEAN : AttentionMask.ADDITIVE;
                owner.compare(
                        stage,
                        Precision.FAST,
                        AttentionCases.attention(false, 0, kind, 0),
                        List.of(q, k, v, mask),
                        size);
                for (Precision precision : Precision.values()) {
                    Attention backwards = new Attention(false, 0, kind, -0.3, 0);
                    owner.compare(stage, precision, backwards, List.of(q, k, v, mask), size);
                }
            }
            v.set((size[1] - 1) * size[3], Double.NaN);
            k.set((size[1] - 2) * size[3], Double.POSITIVE_INFINITY);
            owner.compare(
                    stage,
                    Precision.FAST,
                    AttentionCases.attention(false, 0, AttentionMask.BOOLEAN, 0),
                    List.of(q, k, v, seen),
                    size);
            owner.compare(
                    stage,
                    Precision.FAST,
                    AttentionCases.attention(false, 0, AttentionMask.NONE, 0),
                    List.of(q, k, v),
                    size);
        }
    }

    /** Masks that differ by query, broadcast to batches, to heads and to both. */
    private void queryMasks(KernelStage stage, DType dtype) {
        for (int[] size : new int[][] {{70, 70, 2, 32}, {20, 130, 3, 64}, {17, 200, 2, 40}, {130, 33, 1, 24}}) {
            Random random = new Random(size[0]);
            NdArray q = CaseArrays.normal(random, dtype, 2, size[0], size[2], size[3]);
            NdArray k = CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3]);
            NdArray v = CaseArrays.normal(random, dtype, 2, size[1], size[2], size[3]);
            for (long[] lead : new long[][] {{2, 1}, {1, size[2]}, {2, size[2]}, {1, 1}}) {
                NdArray mask = CaseArrays.normal(random, dtype, lead[0], lead[1], size[0], size[1]);
                for (int i = 0; i < mask.size(); i += 3) {
                    mask.set(i, Double.NEGATIVE_INFINITY);
                }
                owner.compare(stage, Precision.FAST, new PlainAttention(true, 0.2), List.of(q, k, v, mask), size);
            }
            NdArray heads = CaseArrays.normal(random, dtype, 2, 2L * size[2], size[0], size[3]);
            NdArray keys = CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3]);
            NdArray values = CaseArrays.normal(random, dtype, 2, size[2], size[1], size[3]);
            NdArray seen = NdArray.zeros(DType.BOOL, 2, 1, size[0], size[1]);
            for (int i = 0; i < seen.size(); i++) {
                seen.set(i, i / size[1] % 7 != 3 && i % size[1] < size[1] - 4 && random.nextBoolean() ? 1L : 0L);
            }
            values.set((size[1] - 1) * size[3], Double.NaN);
            owner.compare(
                    stage,
                    Precision.FAST,
                    AttentionCases.attention(false, 0, AttentionMask.BOOLEAN, 0),
                    List.of(heads, keys, values, seen),
                    size);
        }
    }
}
