package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.options.Precision;
import dev.tenon.core.testkit.Await;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.testkit.RequiredGpus;
import dev.tenon.cuda.tuning.TrialMemory;
import dev.tenon.cuda.tuning.Tuner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Matrix products by the libraries, against float64: every tier, size, transpose, batch and epilogue; captured, too.
 * Faults are gathered, so that one run on a GPU tells all.
 */
@Tag("gpu")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MatMulLibrariesTest {
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    /** Algorithms are timed in one test alone: the others time nothing beside their own work. */
    private final AtomicBoolean resting = new AtomicBoolean();

    private GpuContext context;
    private KernelStage stage;
    private Tuner tuner;
    private Blas blas;

    @BeforeAll
    void open() {
        RequiredGpus.device(0);
        GpuPlatform platform = GpuPlatforms.named("cuda");
        context = platform.driver().open(0);
        stage = new KernelStage(context, platform.compiler());
        tuner = Tuner.of(context, TrialMemory.of(context), resting::get);
        blas = Blas.of(context, tuner);
    }

    @AfterAll
    void close() {
        if (context != null) {
            tuner.close();
            blas.close();
            stage.close();
            context.close();
        }
    }

    @Test
    void sizesTransposesAndEpilogues() {
        Set<String> tiers = new TreeSet<>();
        List<String> faults = new ArrayList<>();
        StepRun run = new StepRun(stage, blas, Precision.STRICT);
        StepRun fast = new StepRun(stage, blas, Precision.FAST);
        for (DType dtype : FLOATS) {
            for (long[] size : MatMulCases.SIZES) {
                for (int flags = 0; flags < 4; flags++) {
                    for (Epilogue epilogue : MatMulCases.epilogues()) {
                        MatMul op = new MatMul((flags & 1) != 0, (flags & 2) != 0, epilogue);
                        gather(faults, dtype + " " + List.of(size[0], size[1], size[2]) + " " + op, _ -> {
                            List<NdArray> inputs =
                                    MatMulCases.inputs(dtype, op, new long[0], new long[0], size[0], size[1], size[2]);
                            StepRun.Result result = run.run(op, inputs);
                            MatMulCases.compare(op, inputs, result, size[2], Precision.STRICT);
                            tiers.add(result.step().tier().substring(0, 6));
                            if (dtype.bytes() == 2) {
                                StepRun.Result other = fast.run(op, inputs);
                                MatMulCases.compare(op, inputs, other, size[2], Precision.FAST);
                            }
                        });
                    }
                }
            }
        }
        none(faults);
        requireLibraries();
        tiers.remove("w warp"); // on devices that have it
        assertThat(tiers).containsExactly("0 mixe", "1 fuse", "2 blas", "4 scal", "g gemv");
    }

    @Test
    void batches() {
        List<String> faults = new ArrayList<>();
        StepRun run = new StepRun(stage, blas, Precision.STRICT);
        for (DType dtype : FLOATS) {
            for (long[][] batch : MatMulCases.BATCHES) {
                for (Epilogue epilogue : MatMulCases.epilogues()) {
                    for (boolean transposed : new boolean[] {false, true}) {
                        MatMul op = new MatMul(transposed, !transposed, epilogue);
                        String what = dtype + " " + java.util.Arrays.deepToString(batch) + " " + op;
                        gather(faults, what, _ -> {
                            List<NdArray> inputs = MatMulCases.inputs(dtype, op, batch[0], batch[1], 3, 5, 4);
                            MatMulCases.compare(op, inputs, run.run(op, inputs), 4, Precision.STRICT);
                        });
                    }
                }
            }
        }
        none(faults);
    }

    /** What FAST gives at -inf is the library's own affair (docs/accuracy.md): 0 or NaN, and printed. */
    @Test
    @DisplayName("GE-02 activations behind a library's product have their limits")
    void limitsBehindAProduct() {
        double inf = Double.POSITIVE_INFINITY;
        double[] x = {-inf, inf, Double.NaN, -100, 100};
        for (DType dtype : FLOATS) {
            NdArray left = NdArray.zeros(TensorType.of(dtype, 64, 1));
            NdArray right = NdArray.zeros(TensorType.of(dtype, 1, 64));
            for (int i = 0; i < 64; i++) {
                left.set(i, x[i % x.length]);
                right.set(i, 1);
            }
            for (Unary fn : List.of(Unary.of(UnaryFn.GELU), Unary.of(UnaryFn.GELU_TANH), Unary.silu())) {
                MatMul op = new MatMul(false, false, Epilogue.NONE.withActivation(fn));
                for (Precision precision : List.of(Precision.STRICT, Precision.FAST)) {
                    StepRun.Result result = new StepRun(stage, blas, precision).run(op, List.of(left, right));
                    String what = dtype + " " + precision + " " + fn + ": "
                            + result.step().tier();
                    double limit = result.output().get(0);
                    assertThat(limit).as("%s at -inf", what).isZero();
                    assertThat(result.output().get(64)).as(what).isEqualTo(inf);
                    assertThat(result.output().get(128)).as(what).isNaN();
                    assertThat(result.output().get(192)).as(what).isCloseTo(0, within(1e-30));
                    assertThat(result.output().get(256)).as(what).isEqualTo(100);
                }
            }
        }
    }

    @Test
    void resultsKnownByHand() {
        StepRun run = new StepRun(stage, blas, Precision.STRICT);
        MatMulCases.emptySums(run);
        MatMulCases.exact(run);
        MatMulCases.manyMatrices(run);
        MatMulCases.repeated(run);
        KernelCases.all().stream()
                .filter(one -> one.kernel().equals("matmul") && one.heavy())
                .forEach(stage::run);
    }

    /** Case MM-02: strict is f32 throughout; fast may be TF32, and then says so. */
    @Test
    void precision() {
        MatMul op = new MatMul(false, false, Epilogue.NONE);
        List<NdArray> inputs = MatMulCases.inputs(DType.F32, op, new long[0], new long[0], 512, 512, 512);
        double[] expected = op.evaluate(inputs).getFirst().toDoubles();
        StepRun.Result own = new StepRun(stage, Blas.none("not asked"), Precision.STRICT).run(op, inputs);
        assertThat(error(expected, own)).isLessThan(1e-6);
        requireLibraries();
        for (Epilogue epilogue : List.of(Epilogue.NONE, Epilogue.NONE.withActivation(Unary.of(UnaryFn.RELU)))) {
            MatMul one = new MatMul(false, false, epilogue);
            double[] right = one.evaluate(inputs).getFirst().toDoubles();
            StepRun.Result strict = new StepRun(stage, blas, Precision.STRICT).run(one, inputs);
            assertThat(strict.step().tier()).doesNotContain("TF32");
            assertThat(error(right, strict)).as(strict.step().tier()).isLessThan(1e-6);
            StepRun.Result fast = new StepRun(stage, blas, Precision.FAST).run(one, inputs);
            if (context.device().architecture().number() >= 80) {
                assertThat(fast.step().tier()).contains("TF32");
            }
            assertThat(error(right, fast)).as(fast.step().tier()).isLessThan(1e-3);
        }
    }

    /** Sizes that no other test uses, and that no kernel of ours takes: a choice is kept for the process. */
    @Test
    void algorithmsAreTimedWhereThereIsMemory() {
        requireLibraries();
        MatMul op = new MatMul(false, false, Epilogue.NONE.withBias());
        List<NdArray> inputs = MatMulCases.inputs(DType.F16, op, new long[0], new long[0], 520, 264, 132);
        try (Tuner without = Tuner.of(context, _ -> null, () -> true);
                Blas poor = Blas.of(context, without)) {
            StepRun.Result favourite = new StepRun(stage, poor, Precision.STRICT).check(op, inputs, 132);
            assertThat(favourite.step().tier()).contains("cuBLASLt").doesNotContain("autotuned");
        }
        StepRun.Result fastest = new StepRun(stage, blas, Precision.STRICT).check(op, inputs, 132);
        resting.set(true);
        Await.until("the algorithms are timed", tuner::settled);
        assertThat(fastest.step().tier()).contains("cuBLASLt", "autotuned over");
        try (Tuner without = Tuner.of(context, _ -> null, () -> true);
                Blas later = Blas.of(context, without)) {
            StepRun.Result known = new StepRun(stage, later, Precision.STRICT).check(op, inputs, 132);
            assertThat(known.step().tier()).isEqualTo(fastest.step().tier());
        }
    }

    /** The kernels of warpgroups, on sizes that no other test uses. */
    @Test
    void aKernelOfOursIsTimedBesideTheLibrary() {
        requireLibraries();
        Assumptions.assumeTrue(
                context.device().architecture().number() == 90
                        && stage.modules().compilesSpecific(),
                "kernels of warpgroups are for compute capability 9.0");
        for (boolean alongB : new boolean[] {false, true}) {
            MatMul op = new MatMul(false, alongB, Epilogue.NONE.withBias());
            List<NdArray> inputs = MatMulCases.inputs(DType.F16, op, new long[0], new long[0], 4224, 1024, 776);
            List<TensorType> types = inputs.stream().map(NdArray::type).toList();
            StepRun run = new StepRun(stage, blas, Precision.STRICT);
            StepRun.Made made = run.make(op, types);
            assertThat(made.rivals()).hasSize(1);
            NdArray y = RivalCases.tried(
                    stage,
                    made.rivals().getFirst(),
                    new ArrayList<>(inputs),
                    types,
                    TensorType.of(DType.F16, 4224, 1024));
            NdArray expected = Interpreter.run(op, inputs).getFirst();
            Tolerance tolerance = ProductCases.ofRing(DType.F16, 776);
            tolerance.check("the rival", expected, y);
            StepRun.Result first = run.run(op, inputs);
            tolerance.check(first.step().tier(), expected, first.output());
            String begun = first.step().tier().split(",")[0]; // the library's or ours, by the model of time
            assertThat(begun).containsAnyOf("cuBLASLt", "matmul_wgmma");
            resting.set(true);
            Await.until("the algorithms and the kernel are timed", tuner::settled);
            resting.set(false);
            assertThat(first.step().tier()).startsWith(begun); // a step that runs stays one of its kind
            try (Blas later = Blas.of(context, Tuner.of(context, _ -> null, () -> true))) {
                StepRun.Result second = new StepRun(stage, later, Precision.STRICT).run(op, inputs);
                GpuStep found = second.step();
                tolerance.check(found.tier(), expected, second.output());
                System.out.println("a product timed beside ours: " + found.tier() + "; " + found.passedOver());
                assertThat(found.tier() + found.passedOver()).contains("autotuned over");
            }
        }
    }

    @Test
    void capturedBeforeTheyEverRan() {
        List<String> faults = new ArrayList<>();
        StepRun run = new StepRun(stage, blas, Precision.STRICT);
        for (DType dtype : FLOATS) {
            for (Epilogue epilogue : MatMulCases.epilogues()) {
                MatMul op = new MatMul(false, true, epilogue);
                gather(faults, dtype + " captured " + op, _ -> {
                    List<NdArray> inputs = MatMulCases.inputs(dtype, op, new long[0], new long[0], 130, 70, 96);
                    MatMulCases.compare(op, inputs, run.replay(op, inputs), 96, Precision.STRICT);
                });
            }
        }
        none(faults);
    }

    /** Hidden libraries: the tiers below serve, and say why. */
    @Test
    void withoutLibraries() throws Exception {
        for (String hidden : List.of("cublasLt", "cublas", "cublas,cublasLt")) {
            ChildJvm.Result result = ChildJvm.run(Hidden.class, Map.of("TENON_HIDE_LIBRARIES", hidden));
            assertThat(result.code()).as(result.out()).isZero();
            assertThat(result.out()).contains("hidden by TENON_HIDE_LIBRARIES").contains("done");
        }
    }

    /** The child: some of the same products with what is left. */
    static final class Hidden {
        public static void main(String[] arguments) {
            MatMulLibrariesTest test = new MatMulLibrariesTest();
            test.open();
            StepRun run = new StepRun(test.stage, test.blas, Precision.STRICT);
            for (DType dtype : FLOATS) {
                for (Epilogue epilogue : MatMulCases.epilogues()) {
                    MatMul op = new MatMul(true, false, epilogue);
                    List<NdArray> inputs = MatMulCases.inputs(dtype, op, new long[0], new long[0], 35, 33, 20);
                    StepRun.Result result = run.run(op, inputs);
                    MatMulCases.compare(op, inputs, result, 20, Precision.STRICT);
                    System.out.println(
                            result.step().tier() + "; " + result.step().passedOver());
                }
            }
            test.close();
            System.out.println("done");
        }
    }

    private void requireLibraries() {
        String reason = blas.unavailable() + blas.ltUnavailable();
        if (!reason.isEmpty()) {
            System.out.println("products by libraries not tested: " + reason);
            Assumptions.abort(reason);
        }
    }

    private static double error(double[] expected, StepRun.Result result) {
        double[] actual = result.output().toDoubles();
        double off = 0;
        double all = 0;
        for (int i = 0; i < expected.length; i++) {
            off += (actual[i] - expected[i]) * (actual[i] - expected[i]);
            all += expected[i] * expected[i];
        }
        return Math.sqrt(off / all);
    }

    private void gather(List<String> faults, String what, Consumer<String> check) {
        try {
            check.accept(what);
        } catch (AssertionError | TenonException e) {
            faults.add(what + ": " + e.getMessage());
        } finally {
            stage.release();
        }
    }

    private static void none(List<String> faults) {
        if (!faults.isEmpty()) {
            throw new AssertionError(faults.size() + " products are wrong:\n"
                    + String.join("\n", faults.subList(0, Math.min(60, faults.size()))));
        }
    }
}
