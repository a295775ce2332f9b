package dev.tenon.cuda.lower.elementwise;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.IdleWork;
import dev.tenon.cuda.lower.step.RegionForm;
import dev.tenon.cuda.lower.step.WeightOrder;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.tuning.Tuner;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is done for steps while their device has nothing else to do. */
class IdleWorkTest {
    private static GpuContext context() {
        return FakeGpu.context(new AtomicInteger());
    }

    /** Lowers single nodes; keeps what is to be done when the device is idle. */
    private record Lowering(Kernels kernels, List<Predicate<Kernels>> later, boolean idles, RegionForm regions)
            implements GpuLoweringContext {
        @Override
        public int slot(Value value) {
            return 0;
        }

        @Override
        public int orderedSlot(Value matrix, WeightOrder order) {
            throw new AssertionError("no region asks for it");
        }

        @Override
        public Precision precision() {
            return Precision.STRICT;
        }

        @Override
        public Blas blas() {
            return Blas.none("not asked");
        }

        @Override
        public Program onHost(Plan plan, String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public @Nullable IdleWork idleWork() {
            return idles ? later::add : null;
        }

        @Override
        public int stepNumber() {
            return 0;
        }
    }

    /** What makes a mask of numbers of tokens. */
    private static Node mask(long elements) {
        Graph graph = GraphBuilder.build("mask", g -> {
            Value x = g.input("x", TensorType.of(DType.I64, elements));
            Value factor = g.input("factor", TensorType.of(DType.F32));
            g.output(
                    "y",
                    g.add(
                            new Region(
                                    List.of(
                                            new Region.Step(new Cast(DType.F32, false), List.of(0)),
                                            new Region.Step(new Binary(BinaryFn.MUL), List.of(2, 1))),
                                    List.of(1)),
                            x,
                            factor));
        });
        return graph.nodes().getLast();
    }

    @Test
    void aRegionIsCompiledWhenTheDeviceIsIdleAndServesFromThenOn() {
        try (GpuContext context = context();
                KernelModules modules = new KernelModules(context, FakeGpu.compiler(_ -> {}))) {
            List<Predicate<Kernels>> later = new ArrayList<>();
            Lowering lowering = new Lowering(modules, later, true, RegionForm.BY_SIZE);
            GpuStep step = GpuElementwiseLowering.lower(mask(60), lowering);
            assertThat(step.tier()).startsWith("elementwise_region");
            assertThat(step.passedOver())
                    .containsExactly("elementwise_fused: 60 elements; to compile it pays from 32768");

            assertThat(later.removeFirst().test(modules)).isTrue();
            assertThat(step.tier()).startsWith("elementwise_fused of 2 steps");
            assertThat(step.passedOver()).isEmpty();

            GpuStep ofAnotherSize = GpuElementwiseLowering.lower(mask(90), lowering);
            assertThat(ofAnotherSize.tier()).startsWith("elementwise_fused");
            assertThat(later).isEmpty();
        }
    }

    @Test
    @Timeout(60)
    void nothingIsCompiledForAPlanThatIsGone() throws InterruptedException {
        AtomicInteger compiled = new AtomicInteger();
        try (GpuContext context = context();
                KernelModules modules = new KernelModules(context, FakeGpu.compiler(_ -> compiled.incrementAndGet()))) {
            List<Predicate<Kernels>> later = new ArrayList<>();
            Lowering lowering = new Lowering(modules, later, true, RegionForm.BY_SIZE);
            WeakReference<GpuStep> step = new WeakReference<>(GpuElementwiseLowering.lower(mask(60), lowering));
            while (step.get() != null) {
                System.gc();
                Thread.sleep(10);
            }
            int before = compiled.get();
            assertThat(later.removeFirst().test(modules)).isFalse();
            assertThat(compiled).hasValue(before);
        }
    }

    @Test
    void aRegionStaysInterpretedWhereThatIsAskedForOrNothingIsDoneWhileIdle() {
        try (GpuContext context = context();
                KernelModules modules = new KernelModules(context, FakeGpu.compiler(_ -> {}))) {
            List<Predicate<Kernels>> later = new ArrayList<>();
            for (Lowering lowering : List.of(
                    new Lowering(modules, later, true, RegionForm.INTERPRETED),
                    new Lowering(modules, later, false, RegionForm.BY_SIZE))) {
                assertThat(GpuElementwiseLowering.lower(mask(60), lowering).tier())
                        .startsWith("elementwise_region");
                assertThat(later).isEmpty();
            }
        }
    }

    @Test
    @Timeout(60)
    void workWaitsUntilTheDeviceIsIdleAndAFailureEndsNothing() throws InterruptedException {
        AtomicBoolean idle = new AtomicBoolean();
        try (GpuContext context = context();
                Tuner tuner = Tuner.of(context, _ -> null, idle::get)) {
            AtomicInteger done = new AtomicInteger();
            CountDownLatch last = new CountDownLatch(1);
            tuner.add(() -> done.incrementAndGet() > 0);
            tuner.add(() -> false);
            tuner.add(() -> {
                throw new NativeException("does not compile");
            });
            tuner.add(() -> {
                throw new IllegalStateException("a fault of ours");
            });
            tuner.add(() -> {
                last.countDown();
                return true;
            });
            Thread.sleep(20);
            assertThat(done).hasValue(0);
            assertThat(tuner.settled()).isFalse();
            idle.set(true);
            last.await();
            while (!tuner.settled()) {
                Thread.onSpinWait();
            }
            assertThat(done).hasValue(1);
            assertThat(tuner.generation()).isEqualTo(2); // what failed changed nothing
        }
    }

    @Test
    void nothingIsTakenByATunerThatIsOffOrClosed() {
        try (Tuner off = Tuner.off()) {
            assertThat(off.isOn()).isFalse();
            off.add(() -> {
                throw new AssertionError("off");
            });
            assertThat(off.settled()).isTrue();
        }
        try (GpuContext context = context()) {
            Tuner tuner = Tuner.of(context, _ -> null, () -> false);
            tuner.add(() -> {
                throw new AssertionError("never idle");
            });
            tuner.close();
            assertThat(tuner.settled()).isTrue();
        }
    }
}
