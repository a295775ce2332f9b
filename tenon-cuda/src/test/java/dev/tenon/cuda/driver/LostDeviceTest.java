package dev.tenon.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.DeviceLostException;
import dev.tenon.core.testkit.ChildJvm;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A kernel that writes out of bounds loses its context, not the process (case OM-01 c); leaving while threads run
 * (JV-03).
 */
@Tag("gpu")
class LostDeviceTest {
    @Test
    void aStrayWriteIsNamedAndLaterCallsFailAtOnce() throws Exception {
        Gpu.require();
        ChildJvm.Result result = ChildJvm.run(Stray.class, Map.of());
        assertThat(result.out())
                .contains("first: ", "CUDA_ERROR_ILLEGAL_ADDRESS", "stray", "healthy: false", "later: 3 of 3", "end");
        assertThat(result.out()).contains("reopened: ");
        assertThat(result.code()).as(result.out()).isZero();
        assertThat(result.crashed()).isFalse();
    }

    /** The child. */
    static final class Stray {
        public static void main(String[] arguments) {
            Gpu gpu = Gpu.unchecked(0);
            DeviceBuffer y = gpu.context.allocate(16);
            try {
                gpu.stream.launch(
                        gpu.module.function("stray"),
                        LaunchShape.of(1, 1),
                        gpu.arguments().add(y).add(1L << 40));
                gpu.stream.synchronize();
            } catch (DeviceLostException e) {
                System.out.println("first: " + e.getMessage());
            }
            System.out.println("healthy: " + gpu.context.healthy());
            int later = 0;
            for (Runnable call : new Runnable[] {
                () -> gpu.context.allocate(16), gpu.stream::synchronize, () -> gpu.stream.fill(y, 0, 16, (byte) 0)
            }) {
                try {
                    call.run();
                } catch (DeviceLostException e) {
                    later += e.getMessage().contains("CUDA_ERROR_ILLEGAL_ADDRESS") ? 1 : 0;
                }
            }
            System.out.println("later: " + later + " of 3");
            y.close();
            gpu.close();
            try (Gpu again = Gpu.unchecked(0)) {
                again.usable();
                System.out.println("reopened: works");
            } catch (DeviceLostException e) {
                System.out.println("reopened: " + e.getMessage());
            }
            System.out.println("end");
        }
    }

    @Test
    void leavingWhileThreadsRunIsClean() throws Exception {
        Gpu.require();
        for (int run = 0; run < 5; run++) {
            long start = System.nanoTime();
            ChildJvm.Result result = ChildJvm.run(Leaving.class, Map.of());
            assertThat(result.code()).as(result.out()).isEqualTo(7);
            assertThat(result.crashed()).as(result.out()).isFalse();
            assertThat(result.out()).doesNotContain("Exception");
            assertThat(System.nanoTime() - start).isLessThan(30_000_000_000L);
        }
    }

    /** The child. */
    static final class Leaving {
        public static void main(String[] arguments) throws InterruptedException {
            Gpu gpu = Gpu.unchecked(0);
            for (int t = 0; t < 4; t++) {
                Thread.ofPlatform().daemon().start(() -> {
                    while (true) {
                        try (var stream = gpu.context.newStream();
                                var x = gpu.context.allocate(1 << 20);
                                var y = gpu.context.allocate(1 << 20)) {
                            gpu.axpb(stream, x, y, 1, 1);
                            stream.synchronize();
                        }
                    }
                });
            }
            Thread.sleep(ThreadLocalRandom.current().nextInt(200));
            System.exit(7);
        }
    }
}
