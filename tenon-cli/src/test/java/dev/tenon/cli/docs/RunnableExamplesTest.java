package dev.tenon.cli.docs;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That the programs in docs/ work as they stand. */
class RunnableExamplesTest {
    @Test
    void customOps(@TempDir Path folder) throws IOException, InterruptedException {
        new RunnableExample("custom-ops.md").check(folder, "MovingAverage.java", "moving_average.cu", "Example.java");
    }

    @Test
    void observing(@TempDir Path folder) throws IOException, InterruptedException {
        new RunnableExample("observing.md").check(folder, "TenonMetrics.java", "Example.java");
    }
}
