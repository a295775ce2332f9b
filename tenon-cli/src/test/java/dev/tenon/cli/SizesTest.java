package dev.tenon.cli;

import org.junit.jupiter.api.Test;

/** Sizes of dims that commands take, or take for granted. */
class SizesTest {
    @Test
    void plansAheadOfTimeTakeTheUsualSizes() {
        Cli.run("run", Cli.MINI_LM.toString(), "--device", "cpu", "--compile", "aot")
                .succeeds();
    }

    @Test
    void aDistributionThatIsNoneIsWrongUsage() {
        Cli.run("bench", "stream", Cli.MINI_LM.toString(), "--device", "cpu", "--shapes-from", "batch_size=x")
                .isMisused("'x' is not possible", "A+exp(M)..B");
    }
}
