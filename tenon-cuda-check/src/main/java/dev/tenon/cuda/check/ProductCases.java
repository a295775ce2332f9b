package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.kernel.ProductCatalog;
import dev.tenon.cuda.kernel.ProductCatalog.Tile;
import dev.tenon.cuda.lower.step.ProductForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Products on tensor cores and of few rows: sizes around tiles, steps and chunks; transposes, batches, epilogues. */
final class ProductCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    /** m, n, k: each tile of {@code matmul_wmma}, its edges, with and without splits of k. */
    private static final long[][] TILED = {
        {1, 1, 1},
        {1, 3, 2},
        {16, 64, 64},
        {17, 65, 63},
        {33, 72, 136},
        {64, 64, 256},
        {65, 63, 17},
        {8, 40, 1032},
        {40, 24, 2048},
        {3, 7, 1025},
        {136, 200, 40},
        {264, 1032, 72}
    };

    private static final int LARGE = 4;

    /** m, n, k around the tiles and lengths of sums of {@code matmul_rows}. */
    private static final long[][] SHORT = {
        {1, 8, 8}, {128, 128, 64}, {129, 136, 200}, {300, 400, 384}, {140, 72, 120}, {17, 1536, 256}
    };

    /** The same of {@code matmul_wgmma}: fewer steps than it stores in, several tiles a block. */
    private static final long[][] RING = {
        {1, 8, 8}, {128, 256, 640}, {129, 264, 584}, {300, 400, 1000}, {1700, 3000, 776}
    };

    /** The same of {@code matmul_parts}: parts of each number and unequal length, parts of tiles. */
    private static final long[][] PARTS = {
        {1, 8, 8}, {65, 200, 456}, {264, 1544, 72}, {9, 2152, 1480}, {8, 1096, 1480}, {3, 72, 3080}
    };

    /** m, n, k of few rows, weights of whole chunks and not. */
    private static final long[][] FEW = {
        {1, 1, 1},
        {1, 5, 3},
        {1, 33, 1000},
        {1, 264, 512},
        {2, 40, 1024},
        {3, 17, 65},
        {4, 520, 136},
        {5, 64, 24},
        {8, 31, 129},
        {13, 72, 520},
        {16, 257, 64}
    };

    /** Numbers that TF32 keeps 11 bits of: what a term may be off by. */
    static final double TF32 = 0x1p-10;

    private ProductCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            if (dtype != DType.F64) {
                sizes(cases, "matmul_wmma", dtype, ProductForm.TENSOR_CORES, TILED);
                batches(cases, dtype);
                epilogues(cases, "matmul_wmma", dtype, ProductForm.TENSOR_CORES, new long[] {35, 72, 40});
            }
            sizes(cases, "gemv", dtype, ProductForm.FEW_ROWS, FEW);
            epilogues(cases, "gemv", dtype, ProductForm.FEW_ROWS, new long[] {3, 40, 264});
        }
        for (DType dtype : List.of(DType.F16, DType.BF16)) {
            for (boolean alongB : new boolean[] {false, true}) {
                warpgroups(cases, "matmul_rows", ProductForm.ROWS, dtype, alongB, SHORT);
                warpgroups(cases, "matmul_wgmma", ProductForm.RING, dtype, alongB, RING);
                warpgroups(cases, "matmul_parts", ProductForm.PARTS, dtype, alongB, PARTS);
            }
        }
        warpgroups(cases, "matmul_wgmma", ProductForm.RING, DType.F32, true, RING);
        warpgroups(cases, "matmul_parts", ProductForm.PARTS, DType.F32, true, PARTS);
        random(cases);
        for (DType dtype : FLOATS) {
            groups(cases, dtype);
        }
        groupsByWarpgroups(cases);
        return cases;
    }

    private static void sizes(List<KernelCase> cases, String kernel, DType dtype, ProductForm form, long[][] sizes) {
        for (long[] size : sizes) {
            for (int flags = 0; flags < LARGE; flags++) {
                boolean transposeA = (flags & 1) != 0;
                boolean transposeB = (flags & 2) != 0;
                if (form == ProductForm.FEW_ROWS && transposeA && size[0] > 1) {
                    continue;
                }
                MatMul op = new MatMul(transposeA, transposeB, Epilogue.NONE);
                String what = dtype + " " + Arrays.toString(size) + (transposeA ? " a transposed" : "")
                        + (transposeB ? " b transposed" : "");
                cases.add(new KernelCase(
                        kernel, what, stage -> check(run(stage).with(form), kernel, op, dtype, new long[2][0], size)));
            }
        }
    }

    private static void batches(List<KernelCase> cases, DType dtype) {
        for (long[][] batch : MatMulCases.BATCHES) {
            MatMul op = new MatMul(false, batch[0].length % 2 == 1, MatMulCases.full(Unary.of(UnaryFn.MISH)));
            String what = dtype + " batches " + Arrays.toString(batch[0]) + " and " + Arrays.toString(batch[1]);
            cases.add(new KernelCase(
                    "matmul_wmma",
                    what,
                    stage -> check(
                            run(stage).with(ProductForm.TENSOR_CORES), "matmul_wmma", op, dtype, batch, new long[] {
                                3, 8, 16
                            })));
        }
    }

    private static void epilogues(List<KernelCase> cases, String kernel, DType dtype, ProductForm form, long[] size) {
        for (Epilogue epilogue : MatMulCases.epilogues()) {
            for (long n : new long[] {size[1], size[1] + 1}) {
                MatMul op = new MatMul(false, false, epilogue);
                long[] with = {size[0], n, size[2]};
                cases.add(new KernelCase(
                        kernel,
                        dtype + " " + n + " columns, " + epilogue,
                        stage -> check(run(stage).with(form), kernel, op, dtype, new long[2][0], with)));
            }
        }
    }

    /** Products by a kernel of warpgroups, on devices that have it; else by what they have. */
    private static void warpgroups(
            List<KernelCase> cases, String kernel, ProductForm form, DType dtype, boolean alongB, long[][] sizes) {
        List<@Nullable UnaryFn> functions = new ArrayList<>(ProductCatalog.ROWS_FUNCTIONS);
        functions.add(null);
        for (UnaryFn fn : functions) {
            for (long[] size : sizes) {
                for (boolean more : new boolean[] {false, true}) {
                    Unary activation = fn == UnaryFn.SILU ? new Unary(fn, 1.5, 0) : fn == null ? null : Unary.of(fn);
                    Epilogue epilogue = new Epilogue(more, activation, more && form == ProductForm.PARTS, false);
                    MatMul op = new MatMul(false, alongB, epilogue);
                    cases.add(new KernelCase(
                            kernel,
                            dtype + " " + Arrays.toString(size) + " " + op,
                            stage -> check(
                                    run(stage).with(form),
                                    onWarpgroups(stage) ? kernel : "",
                                    op,
                                    dtype,
                                    new long[2][0],
                                    size)));
                }
            }
        }
    }

    private static void random(List<KernelCase> cases) {
        Random random = new Random(11);
        for (int i = 0; i < 24; i++) {
            DType dtype = FLOATS.get(i % FLOATS.size());
            long[] size = {1 + random.nextInt(16), 1 + random.nextInt(300), 1 + random.nextInt(700)};
            drawn(cases, "gemv", random, dtype, ProductForm.FEW_ROWS, null, size);
            drawn(cases, "matmul", random, dtype, ProductForm.PLAIN, null, size);
        }
        for (Tile tile : Tile.values()) {
            for (int i = 0; i < 6; i++) {
                DType dtype = tile.ofWarpgroups() ? FLOATS.get(1 + i % 2) : FLOATS.get(i % 3);
                long[] size = {1 + random.nextInt(150), 1 + random.nextInt(300), 1 + random.nextInt(400)};
                boolean packed = !tile.takes(dtype, true, false) || random.nextBoolean();
                long[] packs = {(size[0] + 7) / 8 * 8, (size[1] + 7) / 8 * 8, (size[2] + 7) / 8 * 8};
                drawn(cases, "matmul_wmma", random, dtype, ProductForm.TENSOR_CORES, tile, packed ? packs : size);
            }
        }
    }

    /** Even groups, empty ones, all rows in one, more groups than a warp has lanes; wrong counts are faults. */
    private static void groups(List<KernelCase> cases, DType dtype) {
        long[] many = new long[70];
        many[3] = 5;
        many[31] = 130;
        many[64] = 1;
        for (long[] counts : new long[][] {{7}, {0, 300, 0}, {17, 33, 0, 64, 1}, {40, 40, 40}, {0, 0}, many}) {
            for (long[] nk : new long[][] {{64, 40}, {33, 17}, {136, 72}}) {
                for (ProductForm form : new ProductForm[] {ProductForm.BY_CHOICE, ProductForm.PLAIN}) {
                    cases.add(new KernelCase(
                            "grouped_matmul",
                            "drawn " + dtype + " " + form + " " + Arrays.toString(nk) + " of "
                                    + Arrays.toString(counts),
                            stage -> grouped(run(stage).with(form), "", dtype, counts, nk)));
                }
            }
        }
        for (Tile tile : Tile.values()) {
            if (!tile.takes(dtype, true, true)) {
                continue;
            }
            cases.add(new KernelCase(
                    "grouped_matmul",
                    "drawn " + dtype + " " + tile,
                    stage -> grouped(
                            tiled(stage, ProductForm.BY_CHOICE, tile), "", dtype, new long[] {17, 0, 200}, new long[] {
                                264, 72
                            })));
        }
        wrongCounts(cases, dtype, new long[] {1, -1, 9}, 1);
        wrongCounts(cases, dtype, new long[] {1, 9, 1}, 1);
        wrongCounts(cases, dtype, new long[] {1, 2, 1}, -5);
        wrongCounts(cases, dtype, new long[] {1, Long.MAX_VALUE, Long.MAX_VALUE}, 1);
    }

    /**
     * Groups by warpgroups, on devices that have them: parts of tiles, sums of parts of steps and of fewer than are
     * stored beside, several tiles a block, groups in more bands than one, more groups than a warp has lanes. Weights
     * of groups without rows are NaN, which no other group may see.
     */
    private static void groupsByWarpgroups(List<KernelCase> cases) {
        long[] many = new long[70];
        many[3] = 1;
        many[31] = 2100;
        many[64] = 65;
        long[][] all = {{0, 1, 127, 0, 128, 129, 64, 65, 300, 0}, {1, 0, 0, 1}, {7}, {0, 0}, many};
        for (DType dtype : List.of(DType.F16, DType.BF16)) {
            for (long[] counts : all) {
                for (long[] nk : new long[][] {{8, 8}, {264, 72}, {1416, 200}, {136, 760}}) {
                    cases.add(new KernelCase(
                            "grouped_matmul",
                            "warpgroups " + dtype + " " + Arrays.toString(nk) + " of " + Arrays.toString(counts),
                            stage -> grouped(
                                    run(stage).with(ProductForm.RING),
                                    onWarpgroups(stage) ? "grouped_matmul_wgmma" : "",
                                    dtype,
                                    counts,
                                    nk)));
                }
            }
        }
    }

    private static void grouped(StepRun run, String kernel, DType dtype, long[] counts, long[] nk) {
        Random random = new Random(Arrays.hashCode(counts));
        long rows = Arrays.stream(counts).sum();
        NdArray weights = CaseArrays.normal(random, dtype, counts.length, nk[1], nk[0]);
        int each = (int) (nk[0] * nk[1]);
        for (int i = 0; i < weights.size(); i++) {
            if (counts[i / each] == 0) {
                weights.set(i, Double.NaN);
            }
        }
        List<NdArray> inputs = List.of(CaseArrays.normal(random, dtype, rows, nk[1]), weights, NdArray.ofLongs(counts));
        StepRun.Result result = run.run(new GroupedMatMul(), inputs);
        expectTier(result, kernel);
        compare(result, new GroupedMatMul(), inputs, dtype, nk[1]);
    }

    private static void wrongCounts(List<KernelCase> cases, DType dtype, long[] counts, long reported) {
        cases.add(new KernelCase("grouped_matmul", dtype + " wrong counts " + Arrays.toString(counts), stage -> {
            List<NdArray> inputs =
                    List.of(NdArray.zeros(dtype, 8, 16), NdArray.zeros(dtype, 3, 16, 24), NdArray.ofLongs(counts));
            NdArray fault = run(stage).run(new GroupedMatMul(), inputs).fault();
            if (fault.getLong(0) == 0 || fault.getLong(1) != reported) {
                throw new AssertionError(
                        "the fault is " + fault.getLong(0) + ", " + fault.getLong(1) + "; expected one of " + reported);
            }
        }));
    }

    private static void drawn(
            List<KernelCase> cases,
            String kernel,
            Random random,
            DType dtype,
            ProductForm form,
            @Nullable Tile tile,
            long[] size) {
        MatMul op = new MatMul(
                form != ProductForm.FEW_ROWS
                        && (tile == null || tile.takes(dtype, false, true))
                        && random.nextBoolean(),
                random.nextBoolean(),
                MatMulCases.epilogues()
                        .get(random.nextInt(MatMulCases.epilogues().size())));
        cases.add(new KernelCase(
                kernel,
                "drawn " + (tile == null ? "" : tile + " ") + dtype + " " + Arrays.toString(size) + " " + op,
                stage -> check(tiled(stage, form, tile), kernel, op, dtype, new long[2][0], size)));
    }

    /** Products of one tile where the device has it, else of its fastest. */
    private static StepRun tiled(KernelStage stage, ProductForm form, @Nullable Tile tile) {
        boolean has = tile != null && (!tile.ofWarpgroups() || onWarpgroups(stage));
        return run(stage).with(form).tiled(has ? tile : null);
    }

    private static boolean onWarpgroups(KernelStage stage) {
        return stage.context().device().architecture().number() == 90;
    }

    private static StepRun run(KernelStage stage) {
        return new StepRun(stage, Blas.none("not asked"), Precision.FAST);
    }

    private static void check(StepRun run, String kernel, MatMul op, DType dtype, long[][] batch, long[] size) {
        List<NdArray> inputs = MatMulCases.inputs(dtype, op, batch[0], batch[1], size[0], size[1], size[2]);
        StepRun.Result result = run.run(op, inputs);
        expectTier(result, kernel);
        compare(result, op, inputs, dtype, size[2]);
    }

    private static void expectTier(StepRun.Result result, String kernel) {
        String tier = result.step().tier();
        if (result.output().size() > 0 && !tier.contains(kernel)) {
            throw new AssertionError("it was made by " + tier + "; expected " + kernel);
        }
    }

    private static void compare(StepRun.Result result, Op op, List<NdArray> inputs, DType dtype, long k) {
        String tier = result.step().tier();
        Tolerance once = Tolerance.of(dtype, k);
        // operands lie around 1: each term is off by two roundings, their sum by a random walk
        double more = tier.contains("TF32") ? 8 * TF32 * Math.sqrt((double) k) : 0;
        // the reference rounds sums in f64 too
        more += dtype == DType.F64 ? 3 * once.absolute() : 0;
        boolean ring = tier.contains("matmul_wgmma");
        boolean parts = tier.contains("matmul_parts");
        more += ring || parts ? cut(k) : 0;
        // rounded before the function, too: where results are small this costs what the function's slope leaves of it
        boolean twice =
                ring && op instanceof MatMul product && product.epilogue().activation() != null;
        more += twice ? once.relative() / 4 : 0;
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        new Tolerance(once.relative() * (twice ? 2 : 1), once.absolute() + more).check(tier, expected, result.output());
    }

    /** Tensor cores cut a sum after every 16 terms, and those of matmul_wgmma are long. */
    private static double cut(long k) {
        return 0x1p-23 * k / 16 * Math.sqrt((double) k);
    }

    /** Of a sum of k products by matmul_wgmma, of operands around 1. */
    static Tolerance ofRing(DType dtype, long k) {
        Tolerance once = Tolerance.of(dtype, k);
        return new Tolerance(once.relative(), once.absolute() + cut(k));
    }
}
