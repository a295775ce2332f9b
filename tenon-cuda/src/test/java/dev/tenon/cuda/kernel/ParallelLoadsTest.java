package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.testkit.Await;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.FakeGpu;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The kernels of a plan are compiled side by side, each once, and what fails is told as if they had been compiled in
 * order.
 */
@Timeout(60)
class ParallelLoadsTest {
    private static final int CORES = Runtime.getRuntime().availableProcessors();
    private static final List<DType> TYPES = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);

    private final Queue<String> compiled = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unloaded = new AtomicInteger();
    /** What the compiler does with a suffix, {@code _f32}. */
    private Consumer<String> compile = suffix -> {};

    private final KernelModules modules = new KernelModules(FakeGpu.context(unloaded), FakeGpu.compiler(source -> {
        String suffix = source.defines().getLast().replace("TENON_SUFFIX=", "");
        compiled.add(suffix);
        compile.accept(suffix);
    }));

    @BeforeEach
    @AfterEach
    void noThreadIsLeft() {
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("tenon-kernels"));
    }

    /** A step with one kernel of each type. */
    private StepKernels step(DType... types) {
        StepKernels step = new StepKernels(modules);
        for (DType type : types) {
            step.kernel(KernelCatalog.MATMUL, "matmul", KernelVariant.of(type));
        }
        return step;
    }

    private List<StepKernels> steps() {
        return TYPES.stream().map(type -> step(type)).toList();
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody else came");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NativeException("interrupted", e);
        }
    }

    @Test
    void twoKernelsCompileAtTheSameTime() {
        assumeThat(CORES).isGreaterThan(1);
        CountDownLatch both = new CountDownLatch(2);
        compile = suffix -> {
            both.countDown();
            await(both);
        };
        List<StepKernels> steps = steps().subList(0, 2);
        StepKernels.Loaded loaded = StepKernels.load(modules, steps);
        steps.forEach(loaded::bind);
        assertThat(compiled).containsExactlyInAnyOrder("_f32", "_f16");
        modules.close();
        assertThat(unloaded).hasValue(2);
    }

    @Test
    void noMoreAtATimeThanThereAreCores() throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Map<String, Runnable> tasks = new LinkedHashMap<>();
        for (int i = 0; i < 4 * CORES; i++) {
            tasks.put("task " + i, () -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                try {
                    Thread.sleep(20); // a task takes a while
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                running.decrementAndGet();
            });
        }
        Thread another = Thread.startVirtualThread(() -> ParallelLoads.run(modules.context(), tasks));
        assertThat(ParallelLoads.run(modules.context(), tasks)).isEmpty();
        another.join();
        assertThat(most).hasValueLessThanOrEqualTo(CORES);
    }

    @Test
    void aFailureIsToldByItsStepAndTheRestIsUsable() {
        compile = suffix -> {
            if (suffix.equals("_f16")) {
                throw new NativeException("f16 does not compile");
            }
        };
        List<StepKernels> steps = steps();
        StepKernels.Loaded loaded = StepKernels.load(modules, steps);
        loaded.bind(steps.getFirst());
        assertThatThrownBy(() -> loaded.bind(steps.get(1)))
                .isInstanceOf(NativeException.class)
                .hasMessage("f16 does not compile");
        int before = compiled.size();
        compile = suffix -> {}; // mended: what was made stays, the rest is made now
        List<StepKernels> again = steps();
        StepKernels.Loaded whole = StepKernels.load(modules, again);
        again.forEach(whole::bind);
        assertThat(compiled.stream().skip(before)).contains("_f16").doesNotContain("_f32");
        modules.close();
        assertThat(unloaded).hasValue(TYPES.size());
    }

    @Test
    void afterAFailureNothingElseIsBegun() {
        CountDownLatch failed = new CountDownLatch(1);
        AtomicReference<Thread> failing = new AtomicReference<>();
        compile = suffix -> {
            if (suffix.equals("_f32")) {
                failing.set(Thread.currentThread());
                failed.countDown();
                throw new NativeException("f32 does not compile");
            }
            await(failed);
            Await.ended(failing.get()); // by then the failure is noted
        };
        List<StepKernels> steps = steps();
        StepKernels.Loaded loaded = StepKernels.load(modules, steps);
        assertThat(compiled).hasSizeLessThanOrEqualTo(Math.min(CORES, TYPES.size()));
        assertThatThrownBy(() -> loaded.bind(steps.getFirst())).hasMessage("f32 does not compile");
    }

    @Test
    void ofTwoFailuresTheFirstInOrderIsTold() {
        assumeThat(CORES).isGreaterThan(1);
        CountDownLatch second = new CountDownLatch(1);
        AtomicReference<Thread> failing = new AtomicReference<>();
        compile = suffix -> {
            if (suffix.equals("_f32")) {
                await(second);
                Await.ended(failing.get());
            } else {
                failing.set(Thread.currentThread());
                second.countDown();
            }
            throw new NativeException(suffix);
        };
        StepKernels step = step(DType.F32, DType.F16);
        StepKernels.Loaded loaded = StepKernels.load(modules, List.of(step));
        assertThatThrownBy(() -> loaded.bind(step)).hasMessage("_f32");
    }

    @Test
    void whatIsUnsupportedStopsNothing() {
        compile = suffix -> {
            if (suffix.equals("_f32")) {
                throw new UnsupportedException("no code for f32");
            }
        };
        List<StepKernels> steps = steps();
        StepKernels.Loaded loaded = StepKernels.load(modules, steps);
        assertThat(compiled).hasSize(TYPES.size());
        assertThat(loaded.bind(steps.getFirst())).isNotEmpty();
        steps.subList(1, steps.size()).forEach(loaded::bind);
    }

    @Test
    void theSameKernelForTwoPlansIsCompiledOnce() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        compile = suffix -> {
            asked.countDown();
            await(release);
        };
        List<Throwable> faults = new ArrayList<>();
        List<Kernel> kernels = new ArrayList<>();
        List<Thread> plans = new ArrayList<>();
        for (int plan = 0; plan < 2; plan++) {
            StepKernels step = new StepKernels(modules);
            kernels.add(step.kernel(KernelCatalog.MATMUL, "matmul", KernelVariant.of(DType.F32)));
            plans.add(Thread.ofPlatform()
                    .uncaughtExceptionHandler((_, fault) -> faults.add(fault))
                    .start(() -> StepKernels.load(modules, List.of(step)).bind(step)));
            await(asked);
        }
        if (CORES > 1) { // the second plan waits for the first one's
            while (plans.getLast().getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        release.countDown();
        for (Thread plan : plans) {
            plan.join();
        }
        assertThat(faults).isEmpty();
        assertThat(compiled).hasSize(1);
        assertThat(kernels)
                .allSatisfy(kernel -> assertThat(kernel.function().name()).isEqualTo("matmul_f32"));
    }

    @Test
    void anInterruptReachesTheCompilersAndStays() {
        AtomicBoolean released = new AtomicBoolean();
        compile = suffix -> {
            await(new CountDownLatch(1));
            released.set(true);
        };
        List<StepKernels> steps = steps();
        Thread.currentThread().interrupt();
        StepKernels.Loaded loaded = StepKernels.load(modules, steps);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(released).isFalse();
        assertThatThrownBy(() -> loaded.bind(steps.getFirst())).hasMessage("interrupted");
    }

    @Test
    void aKernelWithoutCodeIsNotLaunched() {
        StepKernels step = new StepKernels(modules);
        Kernel kernel = step.kernel(KernelCatalog.MATMUL, "matmul", KernelVariant.of(DType.F32));
        assertThatThrownBy(kernel::function)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("matmul_f32");
    }
}
