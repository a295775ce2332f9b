package dev.tenon.cuda.dnn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.Await;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AheadTest {
    private final List<Thread> started = new ArrayList<>();
    private final Set<String> unwanted = ConcurrentHashMap.newKeySet();

    private Ahead<String, String> ahead(int most, Function<String, String> work) {
        return ahead(most, work, Thread::start);
    }

    private Ahead<String, String> ahead(int most, Function<String, String> work, Consumer<Thread> starting) {
        return new Ahead<>(most, work, unwanted::add, thread -> {
            starting.accept(thread);
            started.add(thread);
        });
    }

    private static Ahead<String, String>.Batch begin(Ahead<String, String> ahead, String... questions) {
        Ahead<String, String>.Batch batch = ahead.begin();
        for (String question : questions) {
            batch.add(question);
        }
        return batch;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(50, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void severalThreadsAnswerAtTheSameTime() {
        CyclicBarrier together = new CyclicBarrier(3);
        try (Ahead<String, String> ahead = ahead(3, question -> {
                    try {
                        together.await(50, TimeUnit.SECONDS);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    return question + "!";
                });
                Ahead<String, String>.Batch batch = begin(ahead, "a", "b", "c")) {
            Await.until("all three are at work", () -> together.getNumberWaiting() == 0 && started.size() == 3);
            List<String> answers = new ArrayList<>();
            for (String question : List.of("c", "a", "b")) {
                String answer = batch.take(question);
                answers.add(answer == null ? "not begun" : answer);
            }
            assertThat(answers).isSubsetOf("a!", "b!", "c!", "not begun");
        }
    }

    @Test
    void choresWaitForQuestionsAndMayFail() {
        CountDownLatch go = new CountDownLatch(1);
        List<String> done = Collections.synchronizedList(new ArrayList<>());
        try (Ahead<String, String> ahead = ahead(1, question -> {
                    await(go);
                    done.add(question);
                    return question;
                });
                Ahead<String, String>.Batch batch = begin(ahead, "a")) {
            ahead.later(() -> {
                throw new IllegalStateException("a chore that fails");
            });
            ahead.later(() -> done.add("chore"));
            batch.add("b");
            go.countDown();
            Await.until("all is done", () -> done.size() == 3);
            assertThat(done).containsExactly("a", "b", "chore");
            assertThat(started).hasSize(1);
        }
    }

    @Test
    void whatNoThreadHasBegunWithIsLeftToTheAsker() {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Set<String> worked = ConcurrentHashMap.newKeySet();
        try (Ahead<String, String> ahead = ahead(1, question -> {
                    worked.add(question);
                    begun.countDown();
                    await(go);
                    return question;
                });
                Ahead<String, String>.Batch batch = begin(ahead, "first", "second")) {
            await(begun);
            assertThat(batch.take("second")).isNull();
            go.countDown();
            assertThat(batch.take("first")).isEqualTo("first");
            assertThat(batch.take("first")).isNull();
            assertThat(batch.take("never expected")).isNull();
        }
        assertThat(worked).containsExactly("first");
        assertThat(unwanted).isEmpty();
    }

    @Test
    void answersThatNobodyTakesAreGivenBack() {
        AtomicInteger made = new AtomicInteger();
        try (Ahead<String, String> ahead = ahead(2, question -> {
            made.incrementAndGet();
            return question;
        })) {
            try (Ahead<String, String>.Batch _ = begin(ahead, "a", "b", "a")) {
                Await.until("both are made", () -> made.get() == 2);
            }
            assertThat(unwanted).containsExactlyInAnyOrder("a", "b");
        }
    }

    @Test
    void failuresAreLeftToTheAsker() {
        CountDownLatch begun = new CountDownLatch(2);
        try (Ahead<String, String> ahead = ahead(1, question -> {
                    begun.countDown();
                    if (question.equals("short of heap")) {
                        throw new OutOfMemoryError("a test");
                    }
                    throw new IllegalStateException("a test");
                });
                Ahead<String, String>.Batch batch = begin(ahead, "fails", "short of heap")) {
            await(begun);
            assertThat(batch.take("fails")).isNull();
            assertThat(batch.take("short of heap")).isNull();
        }
        assertThat(unwanted).isEmpty();
    }

    @Test
    void withoutThreadsTheAskerDoesAll() {
        try (Ahead<String, String> none = ahead(0, question -> question);
                Ahead<String, String> refused = ahead(2, question -> question, _ -> {
                    throw new OutOfMemoryError("no thread is to be had");
                })) {
            for (Ahead<String, String> ahead : List.of(none, refused)) {
                try (Ahead<String, String>.Batch batch = begin(ahead, "a", "b")) {
                    assertThat(batch.take("a")).isNull();
                }
            }
        }
        assertThat(started).isEmpty();
    }

    @Test
    void threadsServeLaterBatchesAndEndWithTheClose() {
        AtomicInteger made = new AtomicInteger();
        Ahead<String, String> ahead = ahead(2, question -> question + made.incrementAndGet());
        for (int i = 1; i <= 3; i++) {
            try (Ahead<String, String>.Batch batch = begin(ahead, "a")) {
                int expected = i;
                Await.until("it is made", () -> made.get() == expected);
                assertThat(batch.take("a")).isEqualTo("a" + i);
            }
        }
        assertThat(started).as("a thread that waits takes the next question").hasSizeLessThanOrEqualTo(2);
        ahead.close();
        ahead.close();
        assertThat(started).noneMatch(Thread::isAlive);
        try (Ahead<String, String>.Batch batch = begin(ahead, "a")) {
            assertThat(batch.take("a")).isNull();
        }
        assertThat(made).hasValue(3);
    }
}
