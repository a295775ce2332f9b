package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** How processes find each other; ranks are threads here. Needs no GPU. */
@EndsInTime
class RendezvousTest {
    private static final Supplier<byte[]> NONE = () -> {
        throw new AssertionError("only rank 0 makes the bytes");
    };

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static long in(int millis) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private static CompletableFuture<byte[]> rank(int rank, int world, int port, Supplier<byte[]> maker, int millis) {
        RankEnvironment here = new RankEnvironment(rank, world, rank, "127.0.0.1", port);
        CompletableFuture<byte[]> result = new CompletableFuture<>();
        Thread starts = Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(Rendezvous.share(here, maker, in(millis)));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        Await.until("rank " + rank + " meets the others", () -> starts.getState() != Thread.State.NEW);
        return result;
    }

    @Test
    void everyRankHasTheBytes() throws Exception {
        byte[] bytes = new byte[128];
        new Random(3).nextBytes(bytes);
        int port = freePort();
        List<CompletableFuture<byte[]>> ranks = new ArrayList<>();
        for (int rank = 3; rank >= 0; rank--) { // rank 0 comes last
            ranks.add(rank(rank, 4, port, rank == 0 ? () -> bytes : NONE, 20_000));
        }
        for (CompletableFuture<byte[]> one : ranks) {
            assertThat(one.get()).isEqualTo(bytes);
        }
    }

    @Test
    void aStrangerAtThePortDoesNoHarm() throws Exception {
        int port = freePort();
        CompletableFuture<byte[]> zero = rank(0, 2, port, () -> new byte[] {1, 2, 3}, 20_000);
        for (int knock = 0; knock < 3; knock++) {
            for (int attempt = 0; attempt < 100; attempt++) {
                try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    break;
                } catch (IOException e) {
                    Thread.sleep(20); // between attempts: the port opens when rank 0 listens
                }
            }
        }
        assertThat(rank(1, 2, port, NONE, 20_000).get()).containsExactly(1, 2, 3);
        assertThat(zero.get()).containsExactly(1, 2, 3);
    }

    @Test
    void missingRanksAreNamed() throws Exception {
        CompletableFuture<byte[]> zero = rank(0, 3, freePort(), () -> new byte[8], 300);
        assertThatThrownBy(zero::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("rank(s) {1, 2} of 3 did not come");
        int nobody = freePort();
        assertThatThrownBy(rank(1, 3, nobody, NONE, 300)::get)
                .cause()
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("127.0.0.1:" + nobody);
    }

    @Test
    void anotherWorldIsRefused() throws Exception {
        int port = freePort();
        CompletableFuture<byte[]> zero = rank(0, 2, port, () -> new byte[8], 3000);
        assertThatThrownBy(rank(1, 3, port, NONE, 2500)::get)
                .cause()
                .isInstanceOf(NativeException.class)
                .hasMessageContaining("rank 1 has WORLD_SIZE 3, rank 0 has 2");
        assertThat(rank(1, 2, port, NONE, 2500).get()).hasSize(8);
        zero.get();
    }

    @Test
    void anOccupiedPortIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            assertThatThrownBy(rank(0, 2, taken.getLocalPort(), () -> new byte[8], 3000)::get)
                    .cause()
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("port " + taken.getLocalPort() + " (MASTER_PORT)");
        }
    }

    @Test
    void theEnvironmentIsRead() {
        Map<String, String> all = Map.of(
                "RANK", "3", "WORLD_SIZE", "4", "LOCAL_RANK", "1", "MASTER_ADDR", "host", "MASTER_PORT", "29500");
        assertThat(RankEnvironment.of(all)).isEqualTo(new RankEnvironment(3, 4, 1, "host", 29500));
        assertThatThrownBy(() -> RankEnvironment.of(Map.of("WORLD_SIZE", "4")))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("no RANK");
        assertThatThrownBy(() -> RankEnvironment.of(Map.of("RANK", "x")))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("RANK is \"x\"");
        assertThatThrownBy(() -> new RankEnvironment(4, 4, 0, "host", 1))
                .isInstanceOf(InputException.class)
                .hasMessageContaining("RANK is 4");
        assertThatThrownBy(() -> new RankEnvironment(0, 4, 0, "host", 70000)).isInstanceOf(InputException.class);
    }

    @Test
    void withoutTheLibraryThereIsAReason() {
        Assumptions.assumeFalse(GpuGroup.unavailable().isEmpty(), "NCCL is here");
        assertThat(GpuGroup.unavailable()).contains("libnccl.so.2");
        assertThatThrownBy(() -> GpuGroup.open(
                        dev.tenon.cuda.platform.GpuPlatforms.named("cuda"), List.of(), GpuCollectiveOptions.defaults()))
                .isInstanceOf(UnsupportedException.class)
                .hasMessage(GpuGroup.unavailable());
    }
}
