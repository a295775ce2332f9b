package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Norms of sums of embeddings: every type, widths at the edges of each form, tables of f32 beside halves. */
final class EmbeddingNormCases {
    private static final String KERNEL = "embedding_norm";
    private static final double EPSILON = 1e-5;

    private EmbeddingNormCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (int width : new int[] {8, 64, 248, 256, 264, 384, 520, 768, 1024, 2048}) {
                if (width <= 1024 || type != DType.F32) {
                    cases.add(new KernelCase(KERNEL, type + " " + width, stage -> sums(stage, type, width)));
                }
            }
            cases.add(new KernelCase(KERNEL, type + " no rows", stage -> {
                NdArray table = NdArray.zeros(type, 3, 64);
                NdArray none = NdArray.zeros(DType.I64, 0, 2);
                NdArray row = NdArray.zeros(type, 64);
                new StepRun(stage).check(new EmbeddingNorm(1, false, EPSILON), List.of(table, none, row, row), 64);
            }));
        }
        return cases;
    }

    private static void sums(KernelStage stage, DType type, int width) {
        Random random = new Random(width);
        NdArray words = CaseArrays.normal(random, type, 11, width);
        NdArray kinds = CaseArrays.normal(random, DType.F32, 2, width);
        NdArray places = CaseArrays.normal(random, type, 9, width);
        NdArray scale = CaseArrays.normal(random, type, width);
        NdArray bias = CaseArrays.normal(random, type, width);
        NdArray ids = indices(DType.I64, random, 11);
        NdArray types = indices(DType.I32, random, 2);
        NdArray at = indices(DType.I64, random, 9);
        NdArray each = CaseArrays.normal(random, DType.F32, 1, 5, width);
        StepRun run = new StepRun(stage);
        run.check(new EmbeddingNorm(1, false, EPSILON), List.of(words, ids, scale, bias), width);
        run.check(new EmbeddingNorm(2, true, EPSILON), List.of(words, ids, kinds, types, each, scale, bias), width);
        NdArray one = CaseArrays.normal(random, type, width);
        run.check(new EmbeddingNorm(2, true, EPSILON), List.of(words, ids, kinds, types, one, scale, bias), width);
        List<NdArray> three = List.of(words, ids, kinds, types, places, at, scale, bias);
        run.check(new EmbeddingNorm(3, false, EPSILON), three, width);
    }

    private static NdArray indices(DType type, Random random, int rows) {
        NdArray all = NdArray.zeros(TensorType.of(type, 3, 5));
        for (int i = 0; i < all.size(); i++) {
            all.set(i, (long) random.nextInt(-rows, rows));
        }
        return all;
    }
}
