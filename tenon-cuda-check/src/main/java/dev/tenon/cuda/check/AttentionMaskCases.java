package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.options.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Attention over few keys with masks of keys and of queries.
 *
 * @param owner runs and compares
 */
record AttentionMaskCases(AttentionCases owner) {
    List<KernelCase> all(List<DType> dtypes) {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : dtypes) {
            cases.add(new KernelCase("attention", "masked keys " + dtype, stage -> maskedKeys(stage, dtype)));
            cases.add(new KernelCase("attention", "masks of queries " + dtype, stage -> queryMasks(stage, dtype)));
        }
        return cases;
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
