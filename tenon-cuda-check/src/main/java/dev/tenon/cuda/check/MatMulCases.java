package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.lower.step.ProductForm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Matrix products by our own kernel: sizes, transposes, batches and epilogues; and those with results known by hand
 * (docs/cases.md: MM-01 to MM-04).
 */
final class MatMulCases {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    /** m, n, k. */
    static final long[][] SIZES = {
        {1, 1, 1},
        {1, 3, 2},
        {3, 1, 5},
        {2, 2, 0},
        {31, 33, 32},
        {64, 64, 16},
        {65, 63, 17},
        {4, 68, 20},
        {67, 129, 31},
        {128, 64, 36},
        {5, 7, 257}
    };
    /** The batch dims of a and of b. */
    static final long[][][] BATCHES = {
        {{2}, {2}},
        {{1}, {4}},
        {{4}, {1}},
        {{}, {3}},
        {{3}, {}},
        {{2, 3}, {2, 3}},
        {{2, 1}, {1, 3}},
        {{2, 3}, {3}},
        {{2, 1, 2}, {3, 1}},
        {{2, 1, 2, 1}, {1, 3, 1, 2}},
        {{2, 1, 2, 1, 2}, {1, 2, 1, 3, 1}},
        {{2, 1, 2, 1, 2, 1}, {1, 2, 1, 3, 1, 2}},
        {{0, 3}, {1, 3}}
    };

    /** Of the activations among the epilogues: GELU's, at the square root of 2. */
    private static final double MOST_SLOPE = 1.13;

    /** The error of the hardware's tanh instruction (PTX ISA, tanh.approx.f32). */
    private static final double APPROXIMATE_TANH = 0x1p-11;

    private MatMulCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (long[] size : SIZES) {
                for (int flags = 0; flags < 4; flags++) {
                    boolean transposeA = (flags & 1) != 0;
                    boolean transposeB = (flags & 2) != 0;
                    String what = dtype + " " + Arrays.toString(size) + (transposeA ? " a transposed" : "")
                            + (transposeB ? " b transposed" : "");
                    cases.add(new KernelCase("matmul", what, stage -> {
                        MatMul op = new MatMul(transposeA, transposeB, Epilogue.NONE);
                        List<NdArray> inputs = inputs(dtype, op, new long[0], new long[0], size[0], size[1], size[2]);
                        plain(stage).check(op, inputs, size[2]);
                    }));
                }
            }
            for (long[][] batch : BATCHES) {
                String what = dtype + " batches " + Arrays.toString(batch[0]) + " and " + Arrays.toString(batch[1]);
                cases.add(new KernelCase("matmul", what, stage -> {
                    MatMul op = new MatMul(false, batch[0].length % 2 == 1, full(Unary.of(UnaryFn.MISH)));
                    plain(stage).check(op, inputs(dtype, op, batch[0], batch[1], 3, 5, 4), 4);
                }));
            }
            for (Epilogue epilogue : epilogues()) {
                for (long n : new long[] {33, 64}) {
                    cases.add(new KernelCase("matmul", dtype + " " + n + " columns, " + epilogue, stage -> {
                        MatMul op = new MatMul(false, false, epilogue);
                        plain(stage).check(op, inputs(dtype, op, new long[0], new long[0], 35, n, 20), 20);
                    }));
                }
            }
        }
        cases.add(new KernelCase("matmul", "MM-01 empty sums", stage -> emptySums(plain(stage))));
        cases.add(new KernelCase("matmul", "MM-02 1024.5", stage -> exact(plain(stage))));
        cases.add(new KernelCase("matmul", "MM-03 many matrices", true, stage -> manyMatrices(plain(stage))));
        cases.add(new KernelCase("matmul", "MM-04 repeated operands", stage -> repeated(plain(stage))));
        return cases;
    }

    private static StepRun plain(KernelStage stage) {
        return new StepRun(stage).with(ProductForm.PLAIN);
    }

    /** None, each part, and all of them. */
    static List<Epilogue> epilogues() {
        List<Epilogue> all = new ArrayList<>(List.of(
                Epilogue.NONE,
                Epilogue.NONE.withBias(),
                Epilogue.NONE.withResidual(),
                Epilogue.NONE.withBias().withResidual()));
        for (Unary fn : List.of(
                Unary.of(UnaryFn.RELU),
                Unary.of(UnaryFn.GELU_TANH),
                Unary.of(UnaryFn.GELU),
                Unary.silu(),
                new Unary(UnaryFn.CLIP, -0.5, 0.75))) {
            all.add(Epilogue.NONE.withActivation(fn));
            all.add(Epilogue.NONE.withBias().withActivation(fn));
            all.add(full(fn));
        }
        return all;
    }

    static Epilogue full(Unary fn) {
        return Epilogue.NONE.withBias().withActivation(fn).withResidual();
    }

    /** Random operands for a product, and what its epilogue wants. */
    static List<NdArray> inputs(DType dtype, MatMul op, long[] batchA, long[] batchB, long m, long n, long k) {
        Random random = new Random(m * 31 + n * 7 + k);
        List<NdArray> inputs = new ArrayList<>();
        long[] sizesA = op.transposeA() ? joined(batchA, k, m) : joined(batchA, m, k);
        long[] sizesB = op.transposeB() ? joined(batchB, n, k) : joined(batchB, k, n);
        inputs.add(CaseArrays.normal(random, dtype, sizesA));
        inputs.add(CaseArrays.normal(random, dtype, sizesB));
        List<TensorType> types =
                new ArrayList<>(inputs.stream().map(NdArray::type).toList());
        MatMul plain = new MatMul(op.transposeA(), op.transposeB(), Epilogue.NONE);
        long[] result = plain.shapes(types.stream().map(TensorType::shape).toList())
                .getFirst()
                .sizes();
        if (op.epilogue().bias()) {
            inputs.add(CaseArrays.normal(random, dtype, n));
        }
        if (op.epilogue().residual()) {
            inputs.add(CaseArrays.normal(random, dtype, result));
        }
        return inputs;
    }

    private static long[] joined(long[] outer, long rows, long columns) {
        long[] sizes = Arrays.copyOf(outer, outer.length + 2);
        sizes[outer.length] = rows;
        sizes[outer.length + 1] = columns;
        return sizes;
    }

    /**
     * Compares with the definition. Halves may be rounded more than once: before an epilogue, whoever applies it, and,
     * unless {@code precision} is STRICT, within the library's. Each such rounding is allowed half an epsilon of what
     * was rounded, times the slope of the activation.
     *
     * @throws AssertionError naming the first element that differs
     */
    static void compare(MatMul op, List<NdArray> inputs, StepRun.Result result, long k, Precision precision) {
        NdArray expected = op.evaluate(inputs).getFirst();
        String tier = result.step().tier();
        Tolerance once = Tolerance.of(expected.dtype(), k);
        boolean finished = tier.contains("then matmul_epilogue");
        boolean library = tier.contains("cuBLAS");
        boolean within = precision == Precision.FAST && !finished;
        if (expected.dtype().bytes() != 2 || op.epilogue().isEmpty() || !library) {
            once.check(tier, expected, result.output());
            return;
        }
        NdArray product = new MatMul(op.transposeA(), op.transposeB(), Epilogue.NONE)
                .evaluate(inputs.subList(0, 2))
                .getFirst();
        double half = MOST_SLOPE * Tolerance.epsilon(expected.dtype()) / 2;
        for (int i = 0; i < expected.size(); i++) {
            double before = half * Math.abs(product.get(i));
            if (within) {
                before += withinLibrary(op.epilogue(), inputs, product.get(i), i, half);
            }
            Tolerance all = new Tolerance(once.relative(), once.absolute() + before);
            if (!all.accepts(expected.get(i), result.output().get(i))) {
                throw new AssertionError(tier + ": element " + i + " of " + expected.type() + " is "
                        + result.output().get(i) + "; expected " + expected.get(i) + " within " + all);
            }
        }
    }

    /**
     * What a library's epilogue may lose beside: it adds the residual, then the bias, rounding each time, and
     * approximates tanh.
     */
    private static double withinLibrary(
            Epilogue epilogue, List<NdArray> inputs, double product, int element, double half) {
        double value = product;
        double lost = 0;
        if (epilogue.residual()) {
            value += inputs.getLast().get(element);
            lost += half * Math.abs(value);
        }
        if (epilogue.bias()) {
            NdArray bias = inputs.get(2);
            value += bias.get(element % bias.size());
            lost += half * Math.abs(value);
        }
        return epilogue.activation() == null ? lost : lost + APPROXIMATE_TANH / 2 * Math.abs(value);
    }

    /** Case MM-01. */
    static void emptySums(StepRun run) {
        equal(product(run, Epilogue.NONE, zeros(3, 2, 0), zeros(3, 0, 3)), new double[18]);
        equal(
                product(
                        run,
                        Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU)),
                        zeros(4, 0),
                        zeros(0, 3),
                        array(new long[] {3}, -1, 2, 3)),
                0,
                2,
                3,
                0,
                2,
                3,
                0,
                2,
                3,
                0,
                2,
                3);
        equal(product(run, Epilogue.NONE, zeros(0, 5), zeros(5, 3)));
        equal(
                product(run, Epilogue.NONE.withResidual(), zeros(1, 0), zeros(0, 2), array(new long[] {1, 2}, 7, 7)),
                7,
                7);
    }

    /** Case MM-02 with {@code Precision.STRICT}. */
    static void exact(StepRun run) {
        equal(product(run, Epilogue.NONE, array(new long[] {1, 1}, 1024.5), array(new long[] {1, 1}, 1)), 1024.5);
        NdArray diagonal = zeros(64, 64);
        NdArray identity = zeros(64, 64);
        for (int i = 0; i < 64; i++) {
            diagonal.set(65 * i, 1024.5);
            identity.set(65 * i, 1);
        }
        equal(product(run, Epilogue.NONE, diagonal, identity), diagonal.toDoubles());
    }

    /** Case MM-03. */
    static void manyMatrices(StepRun run) {
        for (int batches : new int[] {65535, 65536, 65537}) {
            for (int m : new int[] {1, 8}) {
                NdArray a = zeros(batches, m, 4);
                NdArray b = zeros(batches, 4, 1);
                double[] expected = new double[batches * m];
                for (int i = 0; i < a.size(); i++) {
                    a.set(i, (i % 4 + 1.0) * (i / 4 / m % 7));
                    expected[i / 4] = 10.0 * (i / 4 / m % 7);
                }
                for (int i = 0; i < b.size(); i++) {
                    b.set(i, 1.0);
                }
                equal(product(run, Epilogue.NONE, a, b), expected);
            }
        }
    }

    /** Case MM-04, as far as operands can be repeated here: views with strides do not exist. */
    static void repeated(StepRun run) {
        NdArray a = array(new long[] {1, 2, 3}, 1, 2, 3, 4, 5, 6);
        NdArray b = zeros(4, 3, 2);
        double[] expected = new double[16];
        for (int i = 0; i < b.size(); i++) {
            b.set(i, i % 5 - 2.0);
        }
        for (int i = 0; i < expected.length; i++) {
            for (int k = 0; k < 3; k++) {
                expected[i] += a.get(i / 2 % 2 * 3 + k) * b.get(i / 4 * 6 + k * 2 + i % 2);
            }
        }
        equal(product(run, Epilogue.NONE, a, b), expected);
    }

    private static NdArray product(StepRun run, Epilogue epilogue, NdArray... inputs) {
        return run.run(new MatMul(false, false, epilogue), List.of(inputs)).output();
    }

    private static NdArray zeros(long... sizes) {
        return NdArray.zeros(DType.F32, sizes);
    }

    private static NdArray array(long[] sizes, double... values) {
        return NdArray.of(TensorType.of(DType.F32, sizes), values);
    }

    private static void equal(NdArray actual, double... expected) {
        if (!Arrays.equals(actual.toDoubles(), expected)) {
            int at = Arrays.mismatch(actual.toDoubles(), expected);
            throw new AssertionError(
                    "element " + at + " of " + actual.type() + " is " + actual.get(at) + "; expected " + expected[at]);
        }
    }
}
