package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.report.EngineListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SharedCacheTest {
    private static final ModelEvents EVENTS = new ModelEvents("model", EngineListener.NONE);

    private static final int THREADS = 8;

    /** A plan that knows who uses it and whether it is closed. */
    private static final class Plan extends Shared {
        final int key;
        final AtomicInteger users = new AtomicInteger();
        final AtomicInteger closes = new AtomicInteger();
        private final Set<ConstantData> constants;
        private int failures;

        Plan(int key, Set<ConstantData> constants) {
            this.key = key;
            this.constants = constants;
        }

        Plan(int key) {
            this(key, Set.of());
        }

        /** A plan whose first close fails. */
        static Plan stubborn(int key) {
            Plan plan = new Plan(key);
            plan.failures = 1;
            return plan;
        }

        @Override
        void addConstants(Set<ConstantData> to) {
            to.addAll(constants);
        }

        @Override
        public void close() {
            if (failures-- > 0) {
                throw new IllegalStateException("plan " + key + " does not close");
            }
            if (users.get() != 0) {
                throw new AssertionError("plan " + key + " is closed while in use");
            }
            closes.incrementAndGet();
        }
    }

    private static SharedCache<Integer, Plan> cache(int most) {
        return new SharedCache<>(CompileOptions.defaults().withMaxPlans(most), EVENTS);
    }

    private static ConstantData constant(int elements) {
        NdArray array = NdArray.zeros(TensorType.of(DType.F32, elements));
        array.set(0, 1); // equal elements would take the bytes of one
        return array.toConstant();
    }

    private static void use(SharedCache<Integer, Plan> cache, Plan plan) {
        cache.release(cache.acquire(plan.key, () -> plan));
    }

    private static void race(Body body) throws Exception {
        CyclicBarrier start = new CyclicBarrier(THREADS);
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                all.add(threads.submit(() -> {
                    start.await();
                    body.run(thread);
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
    }

    private interface Body {
        void run(int thread) throws Exception;
    }

    @Test
    void threadsThatWantOnePlanGetTheSameOne() throws Exception {
        for (int round = 0; round < 50; round++) {
            SharedCache<Integer, Plan> cache = cache(4);
            AtomicInteger made = new AtomicInteger();
            Queue<Plan> got = new ConcurrentLinkedQueue<>();
            race(_ -> {
                Plan plan = cache.acquire(7, () -> {
                    made.incrementAndGet();
                    return new Plan(7);
                });
                got.add(plan);
                cache.release(plan);
            });
            assertThat(made).hasValue(1);
            assertThat(got).hasSize(THREADS).containsOnly(got.element());
            cache.close();
            assertThat(got.element().closes).hasValue(1);
        }
    }

    @Test
    void plansUnderContentionAreClosedOnceAndNeverInUse() throws Exception {
        for (int most = 1; most <= 4; most++) {
            SharedCache<Integer, Plan> cache = cache(most);
            Queue<Plan> made = new ConcurrentLinkedQueue<>();
            race(thread -> {
                SplittableRandom random = new SplittableRandom(thread);
                for (int i = 0; i < 3_000; i++) {
                    int key = random.nextInt(6);
                    Plan plan = cache.acquire(key, () -> {
                        Plan one = new Plan(key);
                        made.add(one);
                        return one;
                    });
                    plan.users.incrementAndGet();
                    assertThat(plan.key).isEqualTo(key);
                    assertThat(plan.closes).as("a plan in use is open").hasValue(0);
                    plan.users.decrementAndGet();
                    cache.release(plan);
                }
            });
            List<Plan> kept = cache.values();
            assertThat(kept).hasSizeLessThanOrEqualTo(most);
            for (Plan plan : made) {
                assertThat(plan.closes).hasValue(kept.contains(plan) ? 0 : 1);
            }
            cache.close();
            assertThat(made).allSatisfy(plan -> assertThat(plan.closes).hasValue(1));
        }
    }

    @Test
    void leastRecentlyUsedPlanGoesByCount() {
        SharedCache<Integer, Plan> cache = cache(2);
        Plan one = new Plan(1);
        Plan two = new Plan(2);
        Plan three = new Plan(3);
        use(cache, one);
        use(cache, two);
        use(cache, one);
        use(cache, three);
        assertThat(cache.values()).containsExactly(one, three);
        assertThat(two.closes).hasValue(1);
    }

    @Test
    void plansBeyondTheBytesGoAndSharedBytesCountOnce() {
        ConstantData shared = constant(1000);
        CompileOptions room = CompileOptions.defaults().withMaxPlanBytes(4000);
        SharedCache<Integer, Plan> cache = new SharedCache<>(room, EVENTS);
        Plan one = new Plan(1, Set.of(shared));
        Plan two = new Plan(2, Set.of(shared));
        Plan three = new Plan(3, Set.of(constant(500)));
        use(cache, one);
        use(cache, two);
        use(cache, three);
        assertThat(cache.values()).as("4000 bytes beside the newest").containsExactly(one, two, three);
        Plan four = new Plan(4);
        use(cache, four);
        assertThat(cache.values())
                .as("three holds 2000 and the two others 4000 together")
                .containsExactly(three, four);
        assertThat(one.closes).hasValue(1);
        assertThat(two.closes).hasValue(1);
    }

    @Test
    void constantsThatAPlanGotLaterCountAtTheNextPlan() {
        CompileOptions room = CompileOptions.defaults().withMaxPlanBytes(4000);
        SharedCache<Integer, Plan> cache = new SharedCache<>(room, EVENTS);
        Set<ConstantData> growing = new HashSet<>(Set.of(constant(500)));
        Plan one = new Plan(1, growing);
        use(cache, one);
        use(cache, new Plan(2));
        growing.add(constant(600));
        Plan three = new Plan(3);
        use(cache, three);
        assertThat(cache.values())
                .as("one holds 4400 bytes now")
                .extracting(plan -> plan.key)
                .containsExactly(2, 3);
        assertThat(one.closes).hasValue(1);
    }

    @Test
    void newestPlanStaysWhateverItHolds() {
        SharedCache<Integer, Plan> cache =
                new SharedCache<>(CompileOptions.defaults().withMaxPlanBytes(0), EVENTS);
        Plan large = new Plan(1, Set.of(constant(1000)));
        use(cache, large);
        assertThat(cache.values()).containsExactly(large);
        Plan empty = new Plan(2);
        use(cache, empty);
        assertThat(cache.values()).containsExactly(empty);
        assertThat(large.closes).hasValue(1);
    }

    @Test
    void evictedPlanIsClosedByItsLastUser() {
        SharedCache<Integer, Plan> cache = cache(1);
        Plan old = new Plan(1);
        cache.acquire(1, () -> old);
        cache.acquire(1, () -> old);
        use(cache, new Plan(2));
        assertThat(cache.values()).doesNotContain(old);
        cache.release(old);
        assertThat(old.closes).as("one run still uses it").hasValue(0);
        cache.release(old);
        assertThat(old.closes).hasValue(1);
    }

    @Test
    void cacheClosedWhileAnEvictedPlanIsInUseLeavesItToItsLastUser() {
        SharedCache<Integer, Plan> cache = cache(1);
        Plan old = new Plan(1);
        cache.acquire(1, () -> old);
        use(cache, new Plan(2));
        cache.close();
        assertThat(old.closes).hasValue(0);
        cache.release(old);
        assertThat(old.closes).hasValue(1);
    }

    @Test
    void makerThatThrowsLeavesNothingAndTheNextOneMakes() throws Exception {
        SharedCache<Integer, Plan> cache = cache(2);
        CountDownLatch failed = new CountDownLatch(THREADS);
        AtomicInteger attempts = new AtomicInteger();
        race(_ -> {
            try {
                cache.acquire(1, () -> {
                    attempts.incrementAndGet();
                    throw new UnsupportedException("no such plan");
                });
            } catch (TenonException e) {
                assertThat(e).hasMessageContaining("no such plan");
                failed.countDown();
            }
        });
        assertThat(failed.getCount()).as("each thread is told").isZero();
        assertThat(attempts).hasPositiveValue();
        assertThat(cache.values()).isEmpty();
        Plan plan = new Plan(1);
        use(cache, plan);
        assertThat(cache.values()).containsExactly(plan);
    }

    @Test
    void evictionThatFailsDoesNotTouchTheRunAndIsRepeatedByTheNext() {
        SharedCache<Integer, Plan> cache = cache(1);
        Plan stubborn = Plan.stubborn(1);
        use(cache, stubborn);
        use(cache, new Plan(2));
        assertThat(stubborn.closes).hasValue(0);
        use(cache, new Plan(3));
        assertThat(stubborn.closes).hasValue(1);
    }

    @Test
    void closeThatFailsGoesOnAndIsRepeated() {
        SharedCache<Integer, Plan> cache = cache(3);
        Plan stubborn = Plan.stubborn(1);
        Plan other = new Plan(2);
        use(cache, stubborn);
        use(cache, other);
        assertThatThrownBy(cache::close).hasMessageContaining("plan 1 does not close");
        assertThat(other.closes).hasValue(1);
        cache.close();
        cache.close();
        assertThat(stubborn.closes).hasValue(1);
        assertThat(other.closes).hasValue(1);
    }
}
