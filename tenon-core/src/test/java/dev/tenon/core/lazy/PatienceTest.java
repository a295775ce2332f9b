package dev.tenon.core.lazy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PatienceTest {
    private final AtomicInteger attempts = new AtomicInteger();

    private Supplier<String> afterFailures(int count) {
        return () -> {
            if (attempts.incrementAndGet() <= count) {
                throw new OutOfMemoryError("planted");
            }
            return "made";
        };
    }

    @Test
    void exhaustedHeapIsWaitedFor() {
        assertThat(Patience.make(afterFailures(2))).isEqualTo("made");
        assertThat(attempts).hasValue(3);
    }

    @Test
    void otherFailureIsThrownAtOnce() {
        assertThatThrownBy(() -> Patience.make(() -> {
                    attempts.incrementAndGet();
                    throw new IllegalStateException("planted");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(attempts).hasValue(1);
    }

    @Test
    void lastAttemptThrowsItsError() {
        assertThatThrownBy(() -> Patience.make(afterFailures(5), 5, 1))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("planted");
        assertThat(attempts).hasValue(5);
    }

    @Test
    void interruptDoesNotShortenTheWaitAndStaysSet() {
        long pause = 20_000_000;
        long start = System.nanoTime();
        Thread.currentThread().interrupt();
        try {
            assertThat(Patience.make(afterFailures(1), 2, pause)).isEqualTo("made");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(pause);
    }
}
