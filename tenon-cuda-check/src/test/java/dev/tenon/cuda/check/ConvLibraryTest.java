package dev.tenon.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.testkit.Await;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
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
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Convolutions by cuDNN, against float64: every attribute, type and epilogue. Faults are gathered. */
@Tag("gpu")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConvLibraryTest {
    private GpuContext context;
    private KernelStage stage;
    private Dnn dnn;

    @BeforeAll
    void open() {
        RequiredGpus.device(0);
        GpuPlatform platform = GpuPlatforms.named("cuda");
        context = platform.driver().open(0);
        stage = new KernelStage(context, platform.compiler());
        dnn = Dnn.of(context);
    }

    @AfterAll
    void close() {
        if (context != null) {
            dnn.close();
            stage.close();
            context.close();
        }
    }

    @Test
    void drawnConvolutionsAgreeWithTheReference() {
        Assumptions.assumeTrue(dnn.unavailable().isEmpty(), dnn::unavailable);
        for (Precision precision : Precision.values()) {
            assertThat(agree(precision, dnn)).anyMatch(tier -> tier.startsWith("2 cudnn"));
        }
    }

    @Test
    void drawnConvolutionsWithoutTheLibraryAgreeWithTheReference() {
        for (Precision precision : Precision.values()) {
            assertThat(agree(precision, Dnn.none("left out"))).noneMatch(tier -> tier.contains("cudnn"));
        }
    }

    /** The precision concerns f32 alone: other types are not run twice. @return the tiers that ran */
    private Set<String> agree(Precision precision, Dnn library) {
        Map<String, Integer> tiers = new TreeMap<>();
        List<String> faults = new ArrayList<>();
        List<KernelCase> cases = ConvCases.all(
                on -> new StepRun(on, Blas.none("not asked"), precision).with(library),
                tier -> tiers.merge(tier.replaceAll("[,:] .*", ""), 1, Integer::sum));
        int run = 0;
        for (KernelCase one : cases) {
            if (precision == Precision.STRICT && !one.what().startsWith(DType.F32.toString())) {
                continue;
            }
            run++;
            try {
                stage.run(one);
            } catch (AssertionError | TenonException e) {
                faults.add(one + ": " + e.getMessage());
            }
        }
        System.out.println(
                "convolutions, " + precision + ", " + (run - faults.size()) + " of " + run + " right: " + tiers);
        assertThat(faults).isEmpty();
        return tiers.keySet();
    }

    /** Sizes that no other test uses: a choice is kept for the next process. */
    @Test
    void enginesAreTimedAtRest() {
        Assumptions.assumeTrue(dnn.unavailable().isEmpty(), dnn::unavailable);
        ChannelsLastConv conv = new ChannelsLastConv(
                new Conv(List.of(2L, 1L), List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), 1, Epilogue.NONE));
        SplittableRandom random = new SplittableRandom(7);
        List<NdArray> inputs = List.of(
                CaseArrays.filled(DType.F16, random::nextGaussian, 2, 15, 17, 72),
                CaseArrays.filled(DType.F16, random::nextGaussian, 56, 3, 3, 72));
        AtomicBoolean resting = new AtomicBoolean();
        long workspace = EngineOptions.defaults().libraryWorkspace();
        String fastest;
        Tuner tuner = Tuner.of(context, TrialMemory.of(context), resting::get);
        try (Dnn timed = Dnn.of(context, tuner, workspace);
                tuner) { // is closed before the library that it times
            StepRun run = new StepRun(stage, Blas.none("not asked"), Precision.STRICT).with(timed);
            StepRun.Result favourite = run.check(conv, inputs, 72 * 9);
            assertThat(favourite.step().tier()).contains("cuDNN");
            resting.set(true);
            Await.until("the engines are timed", tuner::settled);
            fastest = favourite.step().tier();
            assertThat(run.check(conv, inputs, 72 * 9).step().tier()).isEqualTo(fastest);
        }
        System.out.println("a convolution's engines: " + fastest);
        assertThat(fastest).contains("autotuned over");
        try (Dnn later = Dnn.of(context, Tuner.of(context, _ -> null, () -> true), workspace)) {
            StepRun run = new StepRun(stage, Blas.none("not asked"), Precision.STRICT).with(later);
            assertThat(run.check(conv, inputs, 72 * 9).step().tier()).contains("autotuned over");
        }
    }

    /** Of channels that hardly a process before has had: its choices are kept. */
    @Test
    void newSizesRunByOurKernelsUntilEnginesAreTimed() {
        Assumptions.assumeTrue(dnn.unavailable().isEmpty(), dnn::unavailable);
        SplittableRandom random = new SplittableRandom();
        long channels = 8 * random.nextLong(4, 60);
        long outputs = 8 * random.nextLong(4, 60);
        ChannelsLastConv conv = new ChannelsLastConv(
                new Conv(List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L), 1, Epilogue.NONE));
        NdArray weights = CaseArrays.filled(DType.F16, () -> random.nextDouble(-0.1, 0.1), outputs, 3, 3, channels);
        AtomicBoolean resting = new AtomicBoolean();
        Tuner tuner = Tuner.of(context, TrialMemory.of(context), resting::get);
        try (Dnn timed = Dnn.of(context, tuner, EngineOptions.defaults().libraryWorkspace());
                tuner) {
            StepRun run = new StepRun(stage, Blas.none("not asked"), Precision.STRICT).with(timed);
            List<StepRun.Made> steps = new ArrayList<>();
            List<List<NdArray>> inputs = new ArrayList<>();
            for (long side : new long[] {12, 19, 27, 40}) {
                if (side > 12) { // the first plan has our kernel loaded, by another thread
                    Await.until("a kernel of ours is loaded", () -> timed.rehearsed() == 1);
                }
                NdArray x = CaseArrays.filled(DType.F16, random::nextGaussian, 1, side, side + 1, channels);
                inputs.add(List.of(x, weights));
                steps.add(run.make(conv, List.of(x.type(), weights.type())));
            }
            assertThat(steps.getFirst().step().tier()).contains("cuDNN");
            assertThat(steps.subList(1, steps.size()))
                    .allMatch(made -> made.step().tier().contains("implicit gemm"));
            for (boolean rested : new boolean[] {false, true}) {
                resting.set(rested);
                if (rested) {
                    Await.until("the engines are timed", tuner::settled);
                }
                for (int i = 0; i < steps.size(); i++) {
                    for (boolean captured : new boolean[] {false, true}) {
                        StepRun.Result result = run.run(steps.get(i), inputs.get(i), captured);
                        Tolerance.of(DType.F16, channels * 9)
                                .check(
                                        result.step().tier(),
                                        Interpreter.run(conv, inputs.get(i)).getFirst(),
                                        result.output());
                    }
                }
            }
            System.out.println(channels + " channels to " + outputs + " after a rest: "
                    + steps.stream().map(made -> made.step().tier()).toList());
        }
    }
}
