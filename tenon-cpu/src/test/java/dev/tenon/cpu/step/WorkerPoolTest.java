package dev.tenon.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkerPoolTest {
    private static CpuFrame frame(WorkerPool pool) {
        return new CpuFrame(new MemorySegment[0], new MemorySegment[0], pool);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8, 33})
    void doesEveryIterationOnce(int threads) {
        try (WorkerPool pool = new WorkerPool(threads)) {
            CpuFrame frame = frame(pool);
            for (int count : new int[] {0, 1, 2, 7, 64, 1000}) {
                for (int grain : new int[] {0, 1, 3, 2000}) {
                    for (int round = 0; round < 50; round++) {
                        AtomicIntegerArray done = new AtomicIntegerArray(count);
                        pool.run(
                                frame,
                                (_, from, to, worker) -> {
                                    assertThat(worker).isBetween(0, threads - 1);
                                    for (long i = from; i < to; i++) {
                                        done.incrementAndGet((int) i);
                                    }
                                },
                                count,
                                grain);
                        for (int i = 0; i < count; i++) {
                            assertThat(done.get(i)).isEqualTo(1);
                        }
                    }
                }
            }
        }
    }

    private static List<Thread> workers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("tenon-cpu-"))
                .toList();
    }

    @Test
    void noTwoPiecesShareAWorkerAtOneTime() {
        try (WorkerPool pool = new WorkerPool(4)) {
            AtomicIntegerArray inside = new AtomicIntegerArray(4);
            for (int round = 0; round < 200; round++) {
                pool.run(
                        frame(pool),
                        (_, _, _, worker) -> {
                            assertThat(inside.incrementAndGet(worker)).isEqualTo(1);
                            Thread.yield();
                            inside.decrementAndGet(worker);
                        },
                        64,
                        1);
            }
        }
    }

    @Test
    void theCallerGetsWhatAPieceThrewWhenAllAreOut() {
        try (WorkerPool pool = new WorkerPool(4)) {
            AtomicInteger inside = new AtomicInteger();
            for (int round = 0; round < 100; round++) {
                int bad = round;
                assertThatThrownBy(() -> pool.run(
                                frame(pool),
                                (_, from, to, _) -> {
                                    inside.incrementAndGet();
                                    try {
                                        if (from <= bad && bad < to) {
                                            throw new IllegalStateException("piece " + bad);
                                        }
                                    } finally {
                                        inside.decrementAndGet();
                                    }
                                },
                                100,
                                1))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("piece " + bad);
                assertThat(inside.get()).isZero();
            }
            AtomicLong sum = new AtomicLong();
            pool.run(frame(pool), (_, from, to, _) -> sum.addAndGet(to - from), 100, 1);
            assertThat(sum.get()).isEqualTo(100);
        }
    }

    @Test
    void aLoopInsideALoopRunsOnItsWorker() {
        try (WorkerPool pool = new WorkerPool(3)) {
            CpuFrame frame = frame(pool);
            AtomicLong sum = new AtomicLong();
            pool.run(
                    frame,
                    (_, from, to, worker) -> pool.run(
                            frame,
                            (_, innerFrom, innerTo, innerWorker) -> {
                                assertThat(innerWorker).isEqualTo(worker);
                                sum.addAndGet((innerTo - innerFrom) * (to - from));
                            },
                            10,
                            1),
                    12,
                    1);
            assertThat(sum.get()).isEqualTo(120);
        }
    }

    @Test
    void severalCallersShareThePool() throws InterruptedException {
        try (WorkerPool pool = new WorkerPool(3)) {
            AtomicLong sum = new AtomicLong();
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                callers.add(Thread.ofPlatform().start(() -> {
                    CpuFrame frame = frame(pool);
                    for (int round = 0; round < 500; round++) {
                        pool.run(frame, (_, from, to, _) -> sum.addAndGet(to - from), 50, 1);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(sum.get()).isEqualTo(4 * 500 * 50);
        }
    }

    @Test
    void aParkedPoolWakesUp() {
        List<Thread> others = workers(); // of pools closed before, which end by and by
        try (WorkerPool pool = new WorkerPool(2)) {
            for (int round = 0; round < 20; round++) {
                workers().stream().filter(worker -> !others.contains(worker)).forEach(Await::waiting);
                AtomicLong sum = new AtomicLong();
                pool.run(frame(pool), (_, from, to, _) -> sum.addAndGet(to - from), 1000, 1);
                assertThat(sum.get()).isEqualTo(1000);
            }
        }
    }

    @Test
    void anInterruptDoesNotEndALoop() {
        try (WorkerPool pool = new WorkerPool(2)) {
            Thread.currentThread().interrupt();
            AtomicLong sum = new AtomicLong();
            pool.run(
                    frame(pool),
                    (_, from, to, worker) -> {
                        for (int i = 0; worker > 0 && i < 200_000; i++) {
                            Thread.onSpinWait(); // so that the caller has to wait for it
                        }
                        sum.addAndGet(to - from);
                    },
                    8,
                    1);
            assertThat(sum.get()).isEqualTo(8);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void closesTwiceAndThenRunsOnTheCaller() {
        WorkerPool pool = new WorkerPool(4);
        pool.close();
        pool.close();
        AtomicLong sum = new AtomicLong();
        pool.run(
                frame(pool),
                (_, from, to, worker) -> {
                    assertThat(worker).isZero();
                    sum.addAndGet(to - from);
                },
                100,
                1);
        assertThat(sum.get()).isEqualTo(100);
    }

    @Test
    void runsEnterInTheOrderInWhichTheyAskedAndNoMoreThanTheLimit() throws InterruptedException {
        try (WorkerPool pool = new WorkerPool(2)) {
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            List<Integer> order = new CopyOnWriteArrayList<>();
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                pool.enter();
            }
            for (int i = 0; i < 8; i++) {
                int name = i;
                Thread caller = new Thread(() -> {
                    pool.enter();
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    order.add(name);
                    inside.decrementAndGet();
                    pool.leave();
                });
                callers.add(caller);
                caller.start();
                Await.waiting(caller);
            }
            assertThat(order).isEmpty();
            pool.leave(); // one after the other passes through the free place
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
            assertThat(most).hasValue(1);
        }
    }

    @Test
    void asManyRunsAsWorkersKeepToTheirThreads() {
        try (WorkerPool pool = new WorkerPool(2)) {
            pool.enter();
            pool.enter();
            AtomicInteger pieces = new AtomicInteger();
            pool.run(
                    frame(pool),
                    (_, from, to, worker) -> {
                        assertThat(worker).isZero();
                        assertThat(to - from).isEqualTo(64);
                        pieces.incrementAndGet();
                    },
                    64,
                    1);
            assertThat(pieces).hasValue(1);
        }
    }
}
