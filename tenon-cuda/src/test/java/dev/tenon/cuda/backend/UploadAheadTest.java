package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Constants that are uploaded while a plan is made: the plan takes them, or they are freed. */
class UploadAheadTest {
    private final FakeGpu.Memory gpu = new FakeGpu.Memory();
    private final GpuContext context = gpu.context();
    private final GpuWeights weights = new GpuWeights(
            new KernelModules(context, FakeGpu.compiler(_ -> {})),
            new MemoryLedger("gpu", 10_000),
            new HostBackend(EngineOptions.defaults()));

    private static GpuWeights.Layout constant(int bytes) {
        return new GpuWeights.Layout(
                new ConstantData.Dense(
                        TensorType.of(DType.U8, bytes), Arena.ofAuto().allocate(bytes)),
                null);
    }

    @AfterEach
    void nothingStays() {
        weights.close();
        assertThat(gpu.live()).isZero();
    }

    @Test
    void planTakesWhatIsThere() {
        GpuWeights.Layout wanted = constant(1000);
        GpuWeights.Layout unwanted = constant(2000);
        Set<GpuWeights.Layout> plan = new HashSet<>();
        try (UploadAhead ahead = UploadAhead.begin(context, weights, List.of(wanted, unwanted))) {
            ahead.keep(() -> Set.of(wanted));
            assertThat(weights.holds(wanted)).isTrue();
            assertThat(gpu.live()).as("what the plan does not read is freed").isEqualTo(1000);
            weights.address(wanted, plan);
        }
        assertThat(gpu.allocations()).as("nothing twice").isEqualTo(2);
        assertThat(gpu.live()).isEqualTo(1000);
        weights.release(plan);
    }

    @Test
    void failedPlanLeavesNothing() {
        GpuWeights.Layout expected = constant(1000);
        try (UploadAhead ahead = UploadAhead.begin(context, weights, List.of(expected))) {
            ahead.keep(() -> Set.of(expected));
        }
        assertThat(weights.holds(expected)).isFalse();
        assertThat(gpu.live()).isZero();
    }

    @Test
    void fullDeviceIsLeftToThePlan() {
        gpu.holds(1500);
        GpuWeights.Layout first = constant(1000);
        GpuWeights.Layout second = constant(1001);
        Set<GpuWeights.Layout> plan = new HashSet<>();
        try (UploadAhead ahead = UploadAhead.begin(context, weights, List.of(first, second))) {
            ahead.keep(() -> Set.of(first, second));
            weights.address(first, plan);
        }
        assertThat(weights.holds(second)).isFalse();
        assertThat(gpu.live()).isEqualTo(1000);
        weights.release(plan);
    }

    @Test
    void nothingToUploadStartsNothing() {
        try (UploadAhead ahead = UploadAhead.begin(context, weights, List.of())) {
            ahead.keep(() -> {
                throw new AssertionError("nothing was expected");
            });
        }
        assertThat(gpu.allocations()).isZero();
    }
}
