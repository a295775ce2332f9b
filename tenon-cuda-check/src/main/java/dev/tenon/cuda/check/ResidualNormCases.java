package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.lower.step.ProductForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;

/** Sums and their norms: every type, both norms, widths at the edges of each form. */
final class ResidualNormCases {
    private static final String KERNEL = "residual_norm";
    private static final long[] WIDTHS = {1, 3, 31, 32, 33, 127, 384, 1023, 2047, 4099, 8192};
    private static final double EPSILON = 1e-5;

    private static final String EMBEDDING = "embedding_norm";

    private static final String NORMED = "matmul_norm";

    /** m, n, k: rows of 1 to 8 tiles of 128, 192 and 256 columns; fewer steps than are stored in, and several tiles. */
    private static final long[][] PRODUCTS = {
        {1, 128, 8},
        {129, 192, 584},
        {300, 256, 72},
        {257, 384, 384},
        {130, 576, 200},
        {65, 768, 776},
        {140, 896, 64},
        {129, 1280, 136},
        {64, 2048, 72},
        {4300, 768, 136},
        {17000, 384, 328}
    };

    private static final long MANY = 1000;

    /** Of f32 it takes eight tiles of 128 columns, or of 192. */
    private static final long MOST_TF32_COLUMNS = 1024;

    private ResidualNormCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            for (boolean centred : new boolean[] {true, false}) {
                for (long width : WIDTHS) {
                    add(cases, centred, 1, type, width > 2000 ? 3 : 7, width);
                }
                add(cases, centred, 1, type, 2, 5, 33);
                add(cases, centred, 1, type, 1, 16_384 / (type == DType.F64 ? 2 : 1));
            }
        }
        cases.add(new KernelCase(KERNEL, "LN-01, the mean in the residual", ResidualNormCases::largeMeans));
        cases.add(new KernelCase(KERNEL, "the norm sees the sum unrounded", ResidualNormCases::unrounded));
        cases.add(new KernelCase(KERNEL, "NaN and infinity stay in their rows", ResidualNormCases::special));
        embeddingNorms(cases);
        normedProducts(cases);
        return cases;
    }

    /** Products and the norms of their rows: tiles of each width, one block a row and eight, several tiles a block. */
    private static void normedProducts(List<KernelCase> cases) {
        for (DType type : List.of(DType.F16, DType.BF16, DType.F32)) {
            for (long[] size : PRODUCTS) {
                if (type == DType.F32 && size[1] > MOST_TF32_COLUMNS) {
                    continue;
                }
                for (int flags = 0; flags < 4; flags++) {
                    Epilogue epilogue = flags < 2
                            ? Epilogue.NONE.withBias().withResidual()
                            : size[0] % 2 == 0 ? Epilogue.NONE : Epilogue.NONE.withResidual();
                    MatMul product = new MatMul(false, true, epilogue);
                    NormedMatMul op = new NormedMatMul(product, flags == 0 || flags == 3, EPSILON);
                    cases.add(new KernelCase(
                            NORMED,
                            type + " " + Arrays.toString(size) + " " + op,
                            size[0] > MANY,
                            stage -> normedProduct(stage, op, type, size, false)));
                }
            }
            for (boolean centred : new boolean[] {true, false}) {
                MatMul product = new MatMul(false, true, Epilogue.NONE.withResidual());
                NormedMatMul op = new NormedMatMul(product, centred, EPSILON);
                cases.add(new KernelCase(
                        NORMED,
                        type + " NaN and infinity stay in their rows, " + op,
                        stage -> normedProduct(stage, op, type, new long[] {130, 384, 72}, true)));
            }
        }
        cases.add(new KernelCase(NORMED, "means of rows are far from 0", ResidualNormCases::farMeans));
    }

    /** Even rows are 300 deviations from 0; of odd ones the first number is as far from the others. */
    private static void farMeans(KernelStage stage) {
        NormedMatMul op = new NormedMatMul(new MatMul(false, true, Epilogue.NONE.withResidual()), true, EPSILON);
        List<NdArray> inputs = normedInputs(op, DType.F32, new long[] {130, 768, 100});
        NdArray residual = inputs.get(2);
        for (int i = 0; i < residual.size(); i++) {
            residual.set(i, residual.get(i) + (i / 768 % 2 == 0 || i % 768 == 0 ? 3000 : 0));
        }
        compareNormed(stage, op, inputs, 100);
    }

    private static List<NdArray> normedInputs(NormedMatMul op, DType type, long[] size) {
        List<NdArray> inputs = new ArrayList<>(
                MatMulCases.inputs(type, op.product(), new long[0], new long[0], size[0], size[1], size[2]));
        Random random = new Random(size[1]);
        inputs.add(CaseArrays.filled(type, () -> random.nextDouble(0.5, 1.5), size[1]));
        if (op.centred()) {
            inputs.add(CaseArrays.normal(random, type, size[1]));
        }
        return inputs;
    }

    private static void normedProduct(KernelStage stage, NormedMatMul op, DType type, long[] size, boolean special) {
        List<NdArray> inputs = normedInputs(op, type, size);
        if (special) {
            inputs.getFirst().set((int) size[2] * 7 + 5, Double.NaN);
            inputs.get(2).set((int) size[1] * 65 + 200, Double.POSITIVE_INFINITY);
        }
        compareNormed(stage, op, inputs, size[2]);
    }

    private static void compareNormed(KernelStage stage, NormedMatMul op, List<NdArray> inputs, long k) {
        DType type = inputs.getFirst().dtype();
        StepRun.Result result = new StepRun(stage, Blas.none("not asked"), Precision.FAST)
                .with(ProductForm.RING)
                .run(op, inputs);
        String tier = result.step().tier();
        boolean has = stage.context().device().architecture().number() == 90;
        if (has && !tier.contains(NORMED)) {
            throw new AssertionError("it was made by " + tier + "; expected " + NORMED);
        }
        List<NdArray> wide = inputs.stream().map(input -> as(DType.F64, input)).toList();
        NdArray expected = as(type, Interpreter.run(op, wide).getFirst());
        // what is normed is rounded twice before, and lies within 4 deviations; scales are up to 1.5. Operands rounded
        // to
        // TF32 put sums off by a random walk, and sums are divided by that of the products themselves
        Tolerance once = Tolerance.of(type, k);
        double more = type == DType.F32 ? 12 * ProductCases.TF32 : 6 * once.relative();
        new Tolerance(once.relative(), once.absolute() + more).check(tier, expected, result.output());
    }

    private static NdArray as(DType type, NdArray from) {
        NdArray to = NdArray.zeros(TensorType.of(type, from.shape().sizes()));
        for (int i = 0; i < to.size(); i++) {
            to.set(i, from.get(i));
        }
        return to;
    }

    /** Norms of sums of embeddings: every type, widths at the edges of each form, tables of f32 beside halves. */
    private static void embeddingNorms(List<KernelCase> cases) {
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16)) {
            for (int width : new int[] {8, 64, 192, 248, 256, 264, 384, 520, 768, 1024, 2048}) {
                if (width <= 1024 || type != DType.F32) {
                    cases.add(new KernelCase(EMBEDDING, type + " " + width, stage -> embeddings(stage, type, width)));
                }
            }
            cases.add(new KernelCase(EMBEDDING, type + " many rows", stage -> manyRows(stage, type)));
            cases.add(new KernelCase(EMBEDDING, type + " no rows", stage -> {
                NdArray table = NdArray.zeros(type, 3, 64);
                NdArray none = NdArray.zeros(DType.I64, 0, 2);
                NdArray row = NdArray.zeros(type, 64);
                new StepRun(stage).check(new EmbeddingNorm(1, false, EPSILON), List.of(table, none, row, row), 64);
            }));
        }
    }

    private static void add(List<KernelCase> cases, boolean centred, int axis, DType type, long... sizes) {
        String what = (centred ? "layer " : "rms ") + TensorType.of(type, sizes);
        cases.add(new KernelCase(KERNEL, what, stage -> {
            long[] row = Arrays.copyOfRange(sizes, axis, sizes.length);
            long cols = Arrays.stream(row).reduce(1, (a, b) -> a * b);
            Random random = new Random(cols);
            DoubleSupplier any = () -> random.nextDouble(-2, 2);
            List<NdArray> inputs = Stream.of(sizes, sizes, row, row)
                    .limit(centred ? 4 : 3)
                    .map(of -> CaseArrays.filled(type, any, of))
                    .toList();
            new StepRun(stage).check(new ResidualNorm(centred, true, axis, EPSILON), inputs, cols);
            new StepRun(stage).check(new ResidualNorm(centred, false, axis, EPSILON), inputs, cols);
        }));
    }

    private static void largeMeans(KernelStage stage) {
        NdArray x = NdArray.of(TensorType.of(DType.F32, 1, 4), 0, 1, 2, 3);
        NdArray mean = CaseArrays.filled(DType.F32, () -> 40_000, 1, 4);
        NdArray ones = CaseArrays.filled(DType.F32, () -> 1, 4);
        NdArray zeros = NdArray.zeros(TensorType.of(DType.F32, 4));
        new StepRun(stage).check(new ResidualNorm(true, true, 1, EPSILON), List.of(x, mean, ones, zeros), 4);
        for (int cols : new int[] {256, 4099}) { // a constant row: the bias, exactly
            NdArray half = CaseArrays.filled(DType.F32, () -> 617, 1, cols);
            NdArray quarter = CaseArrays.filled(DType.F32, () -> 0.25, cols);
            StepRun.Result result = new StepRun(stage)
                    .run(new ResidualNorm(true, true, 1, EPSILON), List.of(half, half, quarter, quarter));
            Tolerance.EXACT.check("norm", CaseArrays.filled(DType.F32, () -> 0.25, 1, cols), result.output());
            Tolerance.EXACT.check(
                    "sum",
                    CaseArrays.filled(DType.F32, () -> 1234, 1, cols),
                    result.outputs().get(1));
        }
    }

    /** 256 + small numbers, which bf16 would round away: their norm is that of the small numbers. */
    private static void unrounded(KernelStage stage) {
        for (int cols : new int[] {64, 4096}) {
            NdArray large = CaseArrays.filled(DType.BF16, () -> 256, 3, cols);
            NdArray small = NdArray.zeros(TensorType.of(DType.BF16, 3, cols));
            for (int i = 0; i < small.size(); i++) {
                small.set(i, i % 2 == 0 ? 0.25 : -0.25);
            }
            NdArray ones = CaseArrays.filled(DType.BF16, () -> 1, cols);
            NdArray zeros = NdArray.zeros(TensorType.of(DType.BF16, cols));
            StepRun.Result result = new StepRun(stage)
                    .check(new ResidualNorm(true, true, 1, EPSILON), List.of(large, small, ones, zeros), cols);
            Tolerance.EXACT.check("sum", large, result.outputs().get(1));
            if (Math.abs(result.output().get(0) - 1) > 0.01) {
                throw new AssertionError(
                        "the first is " + result.output().get(0) + "; expected 1: the sum was rounded before the norm");
            }
        }
    }

    private static void special(KernelStage stage) {
        for (int cols : new int[] {67, 4099}) {
            NdArray x = CaseArrays.filled(DType.F32, () -> 1, 3, cols);
            NdArray residual = CaseArrays.filled(DType.F32, () -> 2, 3, cols);
            x.set(cols + 5, Double.NaN);
            residual.set(2 * cols - 1, Double.POSITIVE_INFINITY);
            NdArray row = CaseArrays.filled(DType.F32, () -> 0.5, cols);
            for (boolean centred : new boolean[] {true, false}) {
                List<NdArray> inputs = centred ? List.of(x, residual, row, row) : List.of(x, residual, row);
                new StepRun(stage).check(new ResidualNorm(centred, true, 1, EPSILON), inputs, cols);
            }
        }
    }

    private static void embeddings(KernelStage stage, DType type, int width) {
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

    /** So many that a warp takes several one after the other. */
    private static void manyRows(KernelStage stage, DType type) {
        int width = 48 * 16 / type.bytes();
        int rows = 8203;
        Random random = new Random(rows);
        NdArray words = CaseArrays.normal(random, type, 40, width);
        NdArray ids = NdArray.zeros(DType.I32, rows);
        for (int i = 0; i < rows; i++) {
            ids.set(i, (long) random.nextInt(40));
        }
        NdArray row = CaseArrays.normal(random, type, width);
        new StepRun(stage).check(new EmbeddingNorm(1, true, EPSILON), List.of(words, ids, row, row, row), width);
    }

    private static NdArray indices(DType type, Random random, int rows) {
        NdArray all = NdArray.zeros(TensorType.of(type, 3, 5));
        for (int i = 0; i < all.size(); i++) {
            all.set(i, (long) random.nextInt(-rows, rows));
        }
        return all;
    }
}
