package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.FakeGpu;
import dev.tenon.cuda.port.GpuContext;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What tensors give back is found again, is no use's, and is nobody's loss. */
class ResultMemoryTest {
    private static final long LIMIT = 16_000;
    private static final long KEPT = LIMIT / 16;

    private final FakeGpu.Memory gpu = new FakeGpu.Memory();
    private final MemoryLedger ledger = new MemoryLedger("gpu", LIMIT);
    private final GpuContext context = gpu.context();
    private final ResultMemory memory = new ResultMemory(context, ledger);

    @Test
    void theNextOfItsSizeHasIt() {
        DeviceMemory first = memory.take(400);
        memory.giveBack(first);
        assertThat(ledger.report().total()).isZero();
        DeviceMemory second = memory.take(400);
        assertThat(second.buffer()).isSameAs(first.buffer());
        assertThat(ledger.report().activations()).isEqualTo(400);
        assertThat(memory.take(400).buffer()).isNotSameAs(second.buffer());
        assertThat(gpu.allocations()).isEqualTo(2);
    }

    @Test
    void theLongestUnusedGoesFirst() {
        List<DeviceMemory> all = List.of(memory.take(400), memory.take(500), memory.take(300));
        all.forEach(memory::giveBack);
        assertThat(gpu.live()).isEqualTo(800).isLessThanOrEqualTo(KEPT);
        assertThat(memory.take(500).buffer()).isSameAs(all.get(1).buffer());
    }

    @Test
    void theCapIsNoneTheTighter() {
        memory.giveBack(memory.take(1000));
        assertThat(memory.take(LIMIT - 10).bytes()).isEqualTo(LIMIT - 10);
        assertThat(gpu.live()).isEqualTo(LIMIT - 10);
        assertThatThrownBy(() -> memory.take(11))
                .isInstanceOf(OutOfMemoryException.class)
                .hasMessageContaining("10 are free");
    }

    @Test
    void theDeviceIsNoneTheSmaller() {
        gpu.holds(1200);
        memory.giveBack(memory.take(1000));
        assertThat(DeviceMemory.allocate(context, ledger, 900, MemoryLedger.Use.WEIGHTS, "weights")
                        .bytes())
                .isEqualTo(900);
        assertThatThrownBy(() -> memory.take(301)).isInstanceOf(OutOfMemoryException.class);
        assertThat(ledger.report().total()).isEqualTo(900);
    }

    @Test
    void largeOnesServeSomewhatSmallerOnes() {
        MemoryLedger roomy = new MemoryLedger("gpu", 1L << 34);
        ResultMemory large = new ResultMemory(context, roomy);
        DeviceMemory first = large.take((1 << 20) + 1);
        assertThat(first.bytes()).isEqualTo((1 << 20) + (1 << 16));
        large.giveBack(first);
        assertThat(large.take((1 << 20) + (1 << 16)).buffer()).isSameAs(first.buffer());
    }

    @Test
    void whatCannotBeFreedIsTriedAgain() {
        memory.giveBack(memory.take(600));
        DeviceMemory second = memory.take(700);
        gpu.failToFree(true);
        assertThatThrownBy(() -> memory.giveBack(second)).isInstanceOf(NativeException.class);
        assertThatThrownBy(memory::close).isInstanceOf(NativeException.class);
        gpu.failToFree(false);
        memory.close();
        assertThat(gpu.live()).isEqualTo(700);
        memory.giveBack(second);
        assertThat(gpu.live()).isZero();
        assertThat(ledger.report().total()).isZero();
    }

    @Test
    void othersMayHaveItAllAtOnce() {
        memory.giveBack(memory.take(900));
        DeviceBuffer all = DeviceMemory.allocate(context, ledger, LIMIT, MemoryLedger.Use.WORKSPACE, "work")
                .buffer();
        assertThat(all.bytes()).isEqualTo(gpu.live());
    }
}
