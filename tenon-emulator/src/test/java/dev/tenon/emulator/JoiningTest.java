package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.TenonException;
import dev.tenon.cuda.collective.GpuCollectiveOptions;
import dev.tenon.cuda.collective.GpuGroup;
import dev.tenon.cuda.collective.GpuRank;
import dev.tenon.cuda.collective.RankEnvironment;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every communicator that is made is let go once, by abort or by destroy, however its group's opening ends; a stand-in
 * for NCCL keeps count.
 */
class JoiningTest {
    private static final int LATE_MILLIS = 1_500;
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    static Path folder;

    private static NcclStandIn standIn;

    @BeforeAll
    static void build() throws Exception {
        Harness.require();
        standIn = NcclStandIn.build(folder);
    }

    @Test
    void aGroupThatIsClosed() throws Exception {
        assertThat(standIn.run(Child.class, Map.of(), "close")).contains("closed");
        assertThat(standIn.lines())
                .startsWith("made 1", "made 2")
                .containsExactlyInAnyOrder("made 1", "made 2", "destroyed 1", "destroyed 2");
    }

    @Test
    void aGroupThatIsAborted() throws Exception {
        assertThat(standIn.run(Child.class, Map.of(), "abort")).contains("closed");
        assertThat(standIn.lines()).containsExactlyInAnyOrder("made 1", "made 2", "aborted 1", "aborted 2");
    }

    @Test
    void aGroupThatComesTooLate() throws Exception {
        Map<String, String> late = Map.of("STANDIN_JOIN_MS", "" + LATE_MILLIS);
        assertThat(standIn.run(Child.class, late, "group"))
                .contains("CollectiveTimeoutException: joining 2 devices: NCCL has not finished in time");
        assertThat(standIn.lines()).containsExactly("made 1", "made 2", "aborted 1", "aborted 2");
    }

    @Test
    void aRankThatComesTooLate() throws Exception {
        Map<String, String> late = Map.of("STANDIN_JOIN_MS", "" + LATE_MILLIS);
        assertThat(standIn.run(Child.class, late, "rank"))
                .contains("CollectiveTimeoutException: rank 0 joining a world of 1");
        assertThat(standIn.lines()).containsExactly("made 1", "aborted 1");
    }

    /** The process may end before a late communicator comes; it does not wait for it. */
    @Test
    void anEndBeforeTheLateOneComes() throws Exception {
        Map<String, String> late = Map.of("STANDIN_JOIN_MS", "60000");
        long start = System.nanoTime();
        assertThat(standIn.run(Child.class, late, "leave")).contains("CollectiveTimeoutException");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        assertThat(standIn.lines()).isEmpty();
    }

    @Test
    void aJoinThatFails() throws Exception {
        Map<String, String> failing = Map.of("STANDIN_JOIN_CODE", "2");
        assertThat(standIn.run(Child.class, failing, "group"))
                .contains("NativeException")
                .contains("ncclCommInitAll(2 devices)")
                .contains("ncclSystemError");
        assertThat(standIn.lines()).isEmpty();
    }

    /** All joined, and then there is no memory for the sums over peer memory. */
    @Test
    void aGroupThatCannotBeOpenedToItsEnd() throws Exception {
        Map<String, String> tight = Map.of("TENON_EMULATOR_MEMORY", "1000000");
        assertThat(standIn.run(Child.class, tight, "group")).contains("OutOfMemoryException");
        assertThat(standIn.lines())
                .startsWith("made 1", "made 2")
                .containsExactlyInAnyOrder("made 1", "made 2", "destroyed 1", "destroyed 2");
    }

    /** What a process does; it ends with 0 unless something unexpected comes out. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws InterruptedException {
            GpuPlatform platform = GpuPlatforms.named("emulator");
            List<GpuContext> contexts = new ArrayList<>();
            try {
                for (int device = 0; device < 2; device++) {
                    contexts.add(platform.driver().open(device));
                }
                act(arguments[0], platform, contexts);
            } catch (TenonException e) {
                System.out.println(e);
                if (e instanceof CollectiveTimeoutException && !arguments[0].equals("leave")) {
                    Thread.sleep(2 * LATE_MILLIS); // the process lives until the late communicator has come
                }
            } finally {
                contexts.forEach(GpuContext::close);
            }
        }

        private static void act(String what, GpuPlatform platform, List<GpuContext> contexts) {
            GpuCollectiveOptions options = GpuCollectiveOptions.defaults();
            switch (what) {
                case "group", "leave" -> GpuGroup.open(platform, contexts, options.withTimeout(SHORT));
                case "rank" ->
                    GpuRank.open(
                            contexts.getFirst(),
                            new RankEnvironment(0, 1, 0, "127.0.0.1", 1), // nobody to meet
                            options.withTimeout(SHORT));
                default -> {
                    try (GpuGroup group = GpuGroup.open(platform, contexts, options)) {
                        if (what.equals("abort")) {
                            group.communicator(1).abort("a test");
                        }
                    }
                    System.out.println("closed");
                }
            }
        }
    }
}
