package dev.tenon.core.lazy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class LazyTest {
    @Test
    void failedInitialisationIsTriedAgain() {
        AtomicInteger calls = new AtomicInteger();
        Lazy<String> lazy = new Lazy<>() {
            @Override
            protected String make() {
                if (calls.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("planted");
                }
                return "made";
            }
        };
        assertThatThrownBy(lazy::get).isInstanceOf(OutOfMemoryError.class);
        assertThat(lazy.get()).isEqualTo("made");
        assertThat(lazy.get()).isEqualTo("made");
        assertThat(calls).hasValue(2);
    }

    @Test
    void oneThreadMakesAValueAndAllGetIt() throws Exception {
        LazyMap<String, Object> map = new LazyMap<>();
        AtomicInteger calls = new AtomicInteger();
        List<Object> got = race(
                8,
                () -> map.get("key", () -> {
                    calls.incrementAndGet();
                    pause();
                    return new Object();
                }));
        assertThat(calls).hasValue(1);
        assertThat(got).hasSize(8).containsOnly(got.getFirst());
    }

    /**
     * Eight threads want a value whose first three makers meet an error: those three get the error, the others the
     * value.
     */
    @Test
    void waitersMakeTheValueThemselvesAfterAnError() throws Exception {
        LazyMap<String, String> map = new LazyMap<>();
        AtomicInteger calls = new AtomicInteger();
        List<Object> got = race(8, () -> {
            try {
                return map.get("key", () -> {
                    pause();
                    if (calls.incrementAndGet() <= 3) {
                        throw new OutOfMemoryError("planted");
                    }
                    return "made";
                });
            } catch (OutOfMemoryError e) {
                return "error";
            }
        });
        assertThat(got).filteredOn("error"::equals).hasSize(3);
        assertThat(got).filteredOn("made"::equals).hasSize(5);
        assertThat(calls).hasValue(4);
    }

    @Test
    void exceptionGoesToMakerAndWaitersAndIsNotKept() throws Exception {
        LazyMap<String, String> map = new LazyMap<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<Object> maker = threads.submit(() -> attempt(map, () -> {
                inside.countDown();
                await(go);
                throw new IllegalStateException("planted");
            }));
            await(inside);
            AtomicReference<Thread> waits = new AtomicReference<>();
            Future<Object> waiter = threads.submit(() -> {
                waits.set(Thread.currentThread());
                return attempt(map, () -> "not asked");
            });
            Await.until("a second thread", () -> waits.get() != null);
            Await.waiting(waits.get());
            go.countDown();
            assertThat(maker.get()).isInstanceOf(IllegalStateException.class);
            assertThat(waiter.get()).isSameAs(maker.get());
        }
        assertThat(map.has("key")).isFalse();
        assertThat(map.get("key", () -> "later")).isEqualTo("later");
    }

    @Test
    void leastRecentlyUsedValueGoesFirst() {
        LazyMap<Integer, String> map = new LazyMap<>(2);
        map.get(1, () -> "one");
        map.get(2, () -> "two");
        map.get(1, () -> "unused");
        map.get(3, () -> "three");
        assertThat(map.values()).containsExactly("one", "three");
        assertThat(map.has(2)).isFalse();
        assertThat(map.drain()).containsExactly("one", "three");
        assertThat(map.values()).isEmpty();
    }

    private static Object attempt(LazyMap<String, String> map, java.util.function.Supplier<String> make) {
        try {
            return map.get("key", make);
        } catch (RuntimeException e) {
            return e;
        }
    }

    private static List<Object> race(int threads, java.util.concurrent.Callable<Object> body) throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Object>> futures = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (int i = 0; i < threads; i++) {
                futures.add(executor.submit(() -> {
                    await(start);
                    return body.call();
                }));
            }
            start.countDown();
            List<Object> got = new ArrayList<>();
            for (Future<Object> future : futures) {
                got.add(future.get());
            }
            return got;
        }
    }

    /** Making a value takes a while. */
    private static void pause() {
        try {
            Thread.sleep(30);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
