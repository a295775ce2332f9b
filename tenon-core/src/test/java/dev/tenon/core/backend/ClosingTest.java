package dev.tenon.core.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingTest {
    @Test
    void laterStepsRunAfterAFailureAndTheFirstIsThrown() {
        List<String> closed = new ArrayList<>();
        RuntimeException first = new IllegalStateException("first");
        Error second = new OutOfMemoryError("second");
        Closing closing = new Closing();
        closing.step(() -> {
            throw first;
        });
        closing.step(() -> closed.add("between"));
        closing.step(() -> {
            throw second;
        });
        closing.step(() -> closed.add("last"));
        assertThatThrownBy(closing::end).isSameAs(first).hasSuppressedException(second);
        assertThat(closed).containsExactly("between", "last");
    }

    @Test
    void sameFailureTwiceIsThrownOnce() {
        RuntimeException failure = new IllegalStateException("device lost");
        Closing closing = new Closing();
        for (int i = 0; i < 2; i++) {
            closing.step(() -> {
                throw failure;
            });
        }
        assertThatThrownBy(closing::end).isSameAs(failure).hasNoSuppressedExceptions();
    }

    @Test
    void failureOfGivingBackIsSuppressedByTheOneThatLedThere() {
        RuntimeException failure = new IllegalStateException("made nothing");
        RuntimeException further = new IllegalStateException("gave nothing back");
        Closing.after(failure, () -> {
            throw further;
        });
        assertThat(failure).hasSuppressedException(further);
    }
}
