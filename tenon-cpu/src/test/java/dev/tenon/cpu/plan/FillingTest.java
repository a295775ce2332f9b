package dev.tenon.cpu.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cpu.step.CpuLoweringContext.Prepared;
import dev.tenon.cpu.step.HostSupply;
import dev.tenon.cpu.step.LedgerMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms of constants that are made while a plan goes on. */
class FillingTest {
    private static final long BYTES = 1 << 20;

    private final MemoryLedger ledger = new MemoryLedger("cpu", Long.MAX_VALUE);
    private final CpuWeights weights = new CpuWeights(new LedgerMemory(ledger, HostSupply.JVM));

    private static ConstantData constant(MemorySegment segment) {
        return new ConstantData.Dense(TensorType.of(DType.U8, segment.byteSize()), segment);
    }

    @Test
    void isMadeOnceByWhomeverComesFirst() {
        AtomicInteger times = new AtomicInteger();
        CountDownLatch leave = new CountDownLatch(1);
        for (int i = 0; i < ForkJoinPool.getCommonPoolParallelism() + 1; i++) { // no thread of the pool is to be had
            ForkJoinPool.commonPool().execute(() -> Uninterrupted.run(leave::await));
        }
        try {
            Filling filling = Filling.start(_ -> times.incrementAndGet(), MemorySegment.NULL);
            filling.await();
            filling.await();
            assertThat(times).hasValue(1);
        } finally {
            leave.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatMakingThrowsIsToldToAllWhoWait(boolean error) {
        Filling filling = Filling.start(
                _ -> {
                    if (error) {
                        throw new OutOfMemoryError("no room");
                    }
                    throw new IllegalArgumentException("no room");
                },
                MemorySegment.NULL);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(filling::await)
                    .isInstanceOf(error ? OutOfMemoryError.class : IllegalArgumentException.class)
                    .hasMessage("no room");
        }
        assertThatCode(filling::end).doesNotThrowAnyException();
    }

    @Test
    void twoPlansShareAFormThatIsBeingMade() {
        ConstantData data = constant(Arena.ofAuto().allocate(BYTES));
        AtomicInteger times = new AtomicInteger();
        CpuWeights.ForPlan first = weights.forPlan();
        CpuWeights.ForPlan second = weights.forPlan();
        MemorySegment one = first.prepared(data, "ones", _ -> ones(times));
        MemorySegment same = second.prepared(data, "ones", _ -> ones(times));
        second.await();
        assertThat(same.address()).isEqualTo(one.address());
        assertThat(times).hasValue(1);
        assertThat(same.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isOne();
        first.close();
        assertThat(weights.bytes()).isEqualTo(BYTES);
        second.close();
        assertThat(weights.bytes()).isZero();
        assertThat(ledger.report().total()).isZero();
    }

    private static Prepared ones(AtomicInteger times) {
        return new Prepared(BYTES, to -> {
            times.incrementAndGet();
            to.fill((byte) 1);
        });
    }

    /** A plan that fails frees its forms only when nothing writes to them any more. */
    @Test
    void closingWaitsForWhatIsBeingMade() {
        ConstantData data = constant(Arena.ofAuto().allocate(BYTES));
        for (int round = 0; round < 50; round++) {
            AtomicInteger times = new AtomicInteger();
            CpuWeights.ForPlan plan = weights.forPlan();
            plan.prepared(data, "ones", _ -> ones(times));
            plan.close();
            assertThat(times).hasValue(1);
            assertThat(ledger.report().total()).isZero();
        }
    }

    /** Memory of one thread, such as a file that was mapped into a confined arena, is read by that thread. */
    @Test
    void whatOneThreadAloneMayReadItReads() {
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment own = confined.allocate(BYTES);
            AtomicReference<Thread> reader = new AtomicReference<>();
            CpuWeights.ForPlan plan = weights.forPlan();
            plan.prepared(
                    constant(own),
                    "copy",
                    _ -> new Prepared(BYTES, to -> {
                        reader.set(Thread.currentThread());
                        to.copyFrom(own);
                    }));
            assertThat(reader).hasValue(Thread.currentThread());
            plan.await();
            plan.close();
        }
    }
}
