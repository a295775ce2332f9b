package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.ProcessEnd;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Steps that do not end are not waited for, and no exit handler keeps a process. */
@EndsInTime
class LeavingTest {
    @Test
    void aStepThatDoesNotEndIsLeftBehind() {
        CountDownLatch never = new CountDownLatch(1);
        Thread stuck = Leaving.start(() -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Thread done = Leaving.start(() -> {});
        Thread failed = Leaving.start(() -> {
            throw new IllegalStateException("a step that fails");
        });
        long began = System.nanoTime();
        assertThat(Leaving.ended(List.of(stuck, done, failed), Duration.ofMillis(200)))
                .isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isBetween(Duration.ofMillis(200), Duration.ofSeconds(5));
        assertThat(stuck.isDaemon()).isTrue();
        never.countDown();
        assertThat(Leaving.ended(List.of(stuck, done, failed), Duration.ofSeconds(5)))
                .isTrue();
    }

    /**
     * Told to end while a step is stuck and a hook never returns, as an exit handler of a library that waits for its
     * device.
     */
    @Test
    void aProcessThatIsToldToEndDoes(@TempDir Path folder) throws Exception {
        Process process = ChildJvm.start(Stuck.class, Map.of(), folder.resolve("out"), folder.resolve("err"));
        try {
            while (!folder.resolve("out").toFile().exists()
                    || folder.resolve("out").toFile().length() == 0) {
                Thread.sleep(20);
            }
            process.destroy();
            assertThat(process.waitFor(12, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** An exit handler that aborts stands for those of a library whose threads still run. */
    @Test
    void noExitHandlerRunsOverACommunicatorThatIsStillHeld() throws Exception {
        assertThat(ChildJvm.run(Handlers.class, Map.of()).code()).isEqualTo(128 + 6);
        assertThat(ChildJvm.run(Handlers.class, Map.of(), "held").code()).isEqualTo(7);
        assertThat(ChildJvm.run(Handlers.class, Map.of(), "aborted").code()).isEqualTo(7);
        assertThat(ChildJvm.run(Handlers.class, Map.of(), "let go").code()).isEqualTo(128 + 6);
    }

    static final class Handlers {
        private Handlers() {}

        public static void main(String[] arguments) throws Throwable {
            MethodHandle register = Downcalls.handle(
                    Downcalls.standard("on_exit").orElseThrow(), Downcalls.status(Downcalls.LONG, Downcalls.LONG));
            long abort = Downcalls.standard("abort").orElseThrow().address();
            int _ = (int) register.invokeExact(abort, 0L);
            assertThat(Leaving.ended(List.of(Leaving.start(() -> {})), Duration.ofSeconds(5)))
                    .isTrue(); // as joining does
            for (String argument : arguments) {
                switch (argument) {
                    case "held" -> Held.add("rank 0 of 1", "open");
                    case "aborted" -> Held.abortBegins();
                    default -> Held.add("rank 0 of 1", "open").gone();
                }
            }
            System.exit(7);
        }
    }

    static final class Stuck {
        private Stuck() {}

        public static void main(String[] arguments) throws InterruptedException {
            Runtime.getRuntime().addShutdownHook(new Thread(Stuck::park));
            Leaving.start(Stuck::park);
            System.out.println("ready; " + ProcessEnd.class.getSimpleName());
            Thread.sleep(Duration.ofMinutes(1));
        }

        private static void park() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
