package dev.tenon.models.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.DeadlineException;
import dev.tenon.core.error.OverloadException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RequestBatcherTest {
    /** Doubles numbers; each batch waits for a permit. */
    private static final class Doubling implements RequestBatcher.Work<Integer, Integer> {
        final List<List<Integer>> batches = Collections.synchronizedList(new ArrayList<>());
        final Semaphore permits = new Semaphore(0);
        final Semaphore begun = new Semaphore(0);

        @Override
        public long weight(Integer request) {
            return request;
        }

        @Override
        public List<Integer> run(List<Integer> requests) {
            batches.add(requests);
            begun.release();
            permits.acquireUninterruptibly();
            if (requests.contains(13)) {
                throw new DataException("13 has no result");
            }
            return requests.stream().map(x -> 2 * x).toList();
        }
    }

    private static final BatcherOptions OPTIONS = new BatcherOptions(8, 4, 100, Duration.ZERO);
    private static final BatcherOptions LINGERING = OPTIONS.withLinger(Duration.ofSeconds(10));

    @Test
    void whatGathersWhileABatchRunsIsTheNextOne() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            CompletableFuture<Integer> first = batcher.submit(1);
            work.begun.acquire();
            List<CompletableFuture<Integer>> others =
                    IntStream.range(2, 8).mapToObj(batcher::submit).toList();
            work.permits.release(3);
            assertThat(first.get()).isEqualTo(2);
            for (int i = 0; i < others.size(); i++) {
                assertThat(others.get(i).get()).isEqualTo(2 * (i + 2));
            }
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(2, 3, 4, 5), List.of(6, 7));
    }

    /** The client of the batch before comes back a little later than another one's request, which was there already. */
    @Test
    void aBatchWaitsForTheClientsOfTheOneBefore() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", LINGERING, work)) {
            CompletableFuture<Integer> again = batcher.submit(1)
                    .thenApplyAsync(Integer::intValue, CompletableFuture.delayedExecutor(30, TimeUnit.MILLISECONDS))
                    .thenCompose(batcher::submit);
            work.begun.acquire();
            CompletableFuture<Integer> other = batcher.submit(5);
            TimeUnit.SECONDS.sleep(2); // a batch that long is worth a wait of a third of it
            work.permits.release(3); // one more than it takes: without the wait there would be three
            assertThat(again.get()).isEqualTo(4);
            assertThat(other.get()).isEqualTo(10);
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(5, 2));
    }

    /** A batch whose third is longer than one may take to begin below. */
    private static void aLongBatch(Doubling work, RequestBatcher<Integer, Integer> batcher)
            throws InterruptedException {
        batcher.submit(1);
        work.begun.acquire();
        TimeUnit.SECONDS.sleep(2);
    }

    /** Lets all batches go on from then. */
    private static boolean nextBegins(Doubling work, long millis) throws InterruptedException {
        boolean begins = work.begun.tryAcquire(millis, TimeUnit.MILLISECONDS);
        work.permits.release(100);
        return begins;
    }

    @Test
    void aBatchOfFullWeightWaitsForNobody() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", LINGERING, work)) {
            aLongBatch(work, batcher);
            batcher.submit(60);
            batcher.submit(50);
            work.permits.release();
            assertThat(nextBegins(work, 300)).isTrue();
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(60), List.of(50));
    }

    @Test
    void aBatchThatWaitsGoesWhenItsWeightIsFull() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", LINGERING, work)) {
            aLongBatch(work, batcher);
            batcher.submit(30);
            batcher.submit(31);
            work.permits.release();
            boolean early = nextBegins(work, 100);
            batcher.submit(39);
            assertThat(nextBegins(work, 300)).isTrue();
            assertThat(early).isFalse();
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(30, 31, 39));
    }

    @Test
    void noBatchWaitsUntilARequestIsLate() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", LINGERING, work)) {
            aLongBatch(work, batcher);
            batcher.submit(2);
            CompletableFuture<Integer> hurried = batcher.submit(3, Duration.ofMillis(400));
            work.permits.release(100);
            assertThat(hurried.get()).isEqualTo(6);
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(2, 3));
    }

    @Test
    void aBatchThatWaitsGoesForARequestInAHurry() throws Exception {
        Doubling work = new Doubling();
        BatcherOptions options = OPTIONS.withLinger(Duration.ofSeconds(Long.MAX_VALUE));
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", options, work)) {
            aLongBatch(work, batcher);
            batcher.submit(2);
            batcher.submit(3);
            work.permits.release(100);
            TimeUnit.MILLISECONDS.sleep(50); // it waits by now
            assertThat(batcher.submit(4, Duration.ofMillis(400)).get()).isEqualTo(8);
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(2, 3, 4));
    }

    @Test
    void aBatchThatFailedIsNotWaitedForAgain() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", LINGERING, work)) {
            aLongBatch(work, batcher);
            CompletableFuture<Integer> failing = batcher.submit(13);
            batcher.submit(2);
            work.permits.release(2);
            assertThatThrownBy(failing::get).hasCauseInstanceOf(DataException.class);
            work.begun.acquire();
            batcher.submit(3);
            assertThat(nextBegins(work, 300)).isTrue();
        }
    }

    @Test
    void deadlinesOfAnyLength() throws Exception {
        Doubling work = new Doubling();
        work.permits.release(2);
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            CompletableFuture<Integer> ever = batcher.submit(1, Duration.ofSeconds(Long.MAX_VALUE));
            CompletableFuture<Integer> never = batcher.submit(2, Duration.ofSeconds(Long.MIN_VALUE));
            assertThat(ever.get()).isEqualTo(2);
            assertThatThrownBy(never::get).hasCauseInstanceOf(DeadlineException.class);
        }
    }

    @Test
    void weightBoundsABatchButNotASingleRequest() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            batcher.submit(1);
            work.begun.acquire();
            batcher.submit(60);
            batcher.submit(50);
            CompletableFuture<Integer> last = batcher.submit(500);
            work.permits.release(4);
            assertThat(last.get()).isEqualTo(1000);
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(60), List.of(50), List.of(500));
    }

    @Test
    void tooManyAreRefusedAndNothingIsLost() throws Exception {
        Doubling work = new Doubling();
        List<CompletableFuture<Integer>> taken = new ArrayList<>();
        RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work);
        batcher.submit(0);
        work.begun.acquire();
        for (int i = 0; i < OPTIONS.waiting(); i++) {
            taken.add(batcher.submit(i));
        }
        assertThatThrownBy(() -> batcher.submit(1))
                .isInstanceOfSatisfying(
                        OverloadException.class,
                        refusal -> assertThat(refusal.waiting()).isEqualTo(OPTIONS.waiting()));
        work.permits.release(10);
        batcher.close();
        for (int i = 0; i < taken.size(); i++) {
            assertThat(taken.get(i)).isCompletedWithValue(2 * i);
        }
        assertThatThrownBy(() -> batcher.submit(1)).isInstanceOf(ClosedException.class);
        batcher.close();
    }

    @Test
    void aLateRequestIsNotRunAndACancelledOneIsLeftOut() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            batcher.submit(1);
            work.begun.acquire();
            CompletableFuture<Integer> late = batcher.submit(2, Duration.ofNanos(1));
            CompletableFuture<Integer> cancelled = batcher.submit(3);
            CompletableFuture<Integer> inTime = batcher.submit(4, Duration.ofHours(1));
            cancelled.cancel(false);
            work.permits.release(2);
            assertThat(inTime.get()).isEqualTo(8);
            assertThatThrownBy(late::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(DeadlineException.class);
        }
        assertThat(work.batches).containsExactly(List.of(1), List.of(4));
    }

    @Test
    void aFailureIsEveryRequestsOfItsBatchAndNoOthers() throws Exception {
        Doubling work = new Doubling();
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            CompletableFuture<Integer> failing = batcher.submit(13);
            work.permits.release(2);
            assertThatThrownBy(failing::get).hasCauseInstanceOf(DataException.class);
            assertThat(batcher.submit(1).get()).isEqualTo(2);
        }
    }

    @Test
    void clientsThatComeAgainAtOnceShareBatches() throws Exception {
        int clients = 16;
        List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
        RequestBatcher.Work<Integer, Integer> work = new RequestBatcher.Work<>() {
            @Override
            public long weight(Integer request) {
                return 1;
            }

            @Override
            public List<Integer> run(List<Integer> requests) {
                sizes.add(requests.size());
                try {
                    TimeUnit.MILLISECONDS.sleep(20); // stands for the device's work
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return requests;
            }
        };
        BatcherOptions options = BatcherOptions.defaults().withLinger(Duration.ofSeconds(1));
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", options, work)) {
            CountDownLatch done = new CountDownLatch(clients);
            for (int i = 0; i < clients; i++) {
                int number = i;
                Thread.ofPlatform().start(() -> {
                    for (int request = 0; request < 10; request++) {
                        assertThat(batcher.submit(number).join()).isEqualTo(number);
                    }
                    done.countDown();
                });
            }
            done.await();
        }
        assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(10 * clients);
        assertThat(sizes).hasSizeLessThan(clients * 10 / 2);
    }

    /** A list that gives its first element alone. */
    private static final class Broken extends AbstractList<Integer> {
        private final int size;

        Broken(int size) {
            this.size = size;
        }

        @Override
        public Integer get(int i) {
            if (i > 0) {
                throw new StackOverflowError("result " + i);
            }
            return 7;
        }

        @Override
        public int size() {
            return size;
        }
    }

    @Test
    void anErrorBehindTheRunIsAFailureOfThoseWithoutAResult() throws Exception {
        Doubling doubling = new Doubling();
        RequestBatcher.Work<Integer, Integer> work = new RequestBatcher.Work<>() {
            @Override
            public long weight(Integer request) {
                return request;
            }

            @Override
            public List<Integer> run(List<Integer> requests) {
                List<Integer> results = doubling.run(requests);
                return results.size() == 1 ? results : new Broken(results.size());
            }
        };
        try (RequestBatcher<Integer, Integer> batcher = new RequestBatcher<>("test", OPTIONS, work)) {
            CompletableFuture<Integer> first = batcher.submit(1);
            doubling.begun.acquire();
            CompletableFuture<Integer> second = batcher.submit(2);
            CompletableFuture<Integer> third = batcher.submit(3);
            doubling.permits.release(3);
            assertThat(first.get()).isEqualTo(2);
            assertThat(second.get()).isEqualTo(7);
            assertThatThrownBy(third::get).hasCauseInstanceOf(StackOverflowError.class);
            assertThat(batcher.submit(4).get()).isEqualTo(8);
        }
    }
}
