package dev.tenon.models.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ParallelTasksTest {
    @Test
    void theCallerDoesWhatNoThreadIsToBeHadFor() {
        FutureTask<String> task =
                ParallelTasks.aside(() -> Thread.currentThread().getName(), _ -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
        assertThat(ParallelTasks.result(task)).isEqualTo(Thread.currentThread().getName());
    }

    @Test
    void aThreadOfThatNameDoesTheRest() {
        FutureTask<String> task =
                ParallelTasks.aside("aside", () -> Thread.currentThread().getName());
        assertThat(ParallelTasks.result(task)).isEqualTo("aside");
    }
}
