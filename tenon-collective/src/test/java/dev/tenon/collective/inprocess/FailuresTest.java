package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Buffer;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.DeadRankException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks that are late, dead, interrupted or aborted: an error on the others, never a hang. */
@Timeout(60)
final class FailuresTest {
    /** Long enough for the other ranks to come, on a loaded machine too. */
    private static final Duration SOON = Duration.ofMillis(1500);

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void deadRank(Algorithm algorithm) {
        try (InProcessGroup group = Groups.open(4, algorithm)) { // with a timeout far beyond the test's
            assertThatThrownBy(() -> group.run(rank -> {
                        if (rank.rank() == 2) {
                            throw new IllegalStateException("boom");
                        }
                        float[] mine = {1, 2, 3};
                        assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM))
                                .isInstanceOf(DeadRankException.class)
                                .hasMessageContaining("rank " + rank.rank() + " waits for rank 2")
                                .hasMessageContaining("boom");
                        assertThat(mine).containsExactly(1, 2, 3);
                        assertThatThrownBy(rank::barrier).isInstanceOf(DeadRankException.class);
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("boom");
            afterwards(group);
        }
    }

    private static void afterwards(InProcessGroup group) {
        group.run(rank -> {
            float[] mine = {1};
            rank.allReduce(mine, ReduceOp.SUM);
            assertThat(mine).containsExactly(group.world());
        });
    }

    /** A rank may end early as long as nobody needs it. */
    @Test
    void rankThatEnded() {
        try (InProcessGroup group = Groups.open(3, Algorithm.AUTO)) {
            assertThatThrownBy(() -> group.run(rank -> {
                        rank.barrier();
                        if (rank.rank() != 1) {
                            rank.barrier();
                        }
                    }))
                    .isInstanceOf(DeadRankException.class)
                    .hasMessageContaining("waits for rank 1, which ended its task");
            afterwards(group);
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void afterATimeoutEveryLaterCallFailsAtOnce(Algorithm algorithm) {
        CountDownLatch over = new CountDownLatch(2);
        try (InProcessGroup group = Groups.open(3, algorithm, SOON)) {
            group.run(rank -> {
                float[] mine = {1, 2};
                if (rank.rank() == 1) {
                    over.await();
                }
                for (int call = 0; call < 3; call++) {
                    assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM))
                            .isInstanceOf(CollectiveTimeoutException.class)
                            .hasMessageContaining("1500 ms")
                            .hasMessageContaining("rank(s) 1 did not come");
                    assertThat(mine).containsExactly(1, 2);
                    over.countDown();
                }
                long start = System.nanoTime();
                for (int call = 0; call < 50; call++) {
                    assertThatThrownBy(rank::barrier).isInstanceOf(CollectiveTimeoutException.class);
                }
                assertThat(System.nanoTime() - start).as("fifty calls").isLessThan(5 * SOON.toNanos());
            });
            afterwards(group);
        }
    }

    @Test
    void abort() {
        Queue<Thread> others = new ConcurrentLinkedQueue<>();
        try (InProcessGroup group = Groups.open(3, Algorithm.AUTO)) {
            assertThatThrownBy(() -> group.run(rank -> {
                        if (rank.rank() != 0) {
                            others.add(Thread.currentThread());
                        } else {
                            Await.until("the other ranks", () -> others.size() == 2);
                            others.forEach(Await::waiting);
                            rank.abort("enough");
                        }
                        rank.barrier();
                    }))
                    .isInstanceOf(CollectiveAbortedException.class)
                    .hasMessageContaining("aborted by rank 0: enough");
            afterwards(group);
        }
    }

    @Test
    void interrupt() {
        AtomicReference<Thread> sleeper = new AtomicReference<>();
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            group.run(rank -> {
                if (rank.rank() == 0) {
                    sleeper.set(Thread.currentThread());
                    assertThatThrownBy(rank::barrier)
                            .isInstanceOf(CollectiveAbortedException.class)
                            .hasMessageContaining("interrupted");
                    assertThat(Thread.interrupted()).as("still told").isTrue();
                } else {
                    Await.until("rank 0", () -> sleeper.get() != null);
                    Await.waiting(sleeper.get());
                    sleeper.get().interrupt();
                    sleeper.get().join(50);
                    assertThatThrownBy(rank::barrier).isInstanceOf(CollectiveException.class);
                }
                rank.barrier();
            });
        }
    }

    /** A fault in the middle of moving elements breaks the group, on every rank. */
    @ParameterizedTest
    @EnumSource(
            names = {"RING"},
            value = Algorithm.class)
    void faultInTheMiddle(Algorithm algorithm) {
        RingListener faulty = new RingListener() {
            @Override
            public void reduced(int rank, int step, int sent, int received, HostBuffer state) {
                if (rank == 1 && step == 1) {
                    throw new IllegalStateException("boom");
                }
            }

            @Override
            public void gathered(int rank, int step, int sent, int received, HostBuffer state) {}
        };
        InProcessOptions options =
                InProcessOptions.defaults().withAlgorithm(algorithm).withListener(faulty);
        try (InProcessGroup group = InProcessGroup.open(3, options)) {
            group.run(rank -> {
                assertThatThrownBy(() -> rank.allReduce(new float[] {1, 2, 3}, ReduceOp.SUM))
                        .isInstanceOf(CollectiveAbortedException.class)
                        .hasMessageContaining("rank 1 failed in the middle")
                        .hasMessageContaining("boom");
                assertThatThrownBy(rank::barrier).isInstanceOf(CollectiveAbortedException.class);
            });
        }
    }

    @Test
    void closing() {
        InProcessGroup group = Groups.open(2, Algorithm.AUTO);
        Communicator left = group.communicator(0);
        Communicator right = group.communicator(1);
        left.close();
        left.close();
        assertThatThrownBy(left::barrier).isInstanceOf(ClosedException.class);
        assertThatThrownBy(right::barrier)
                .isInstanceOf(DeadRankException.class)
                .hasMessageContaining("rank 0, which closed its communicator");
        group.close();
        group.close();
        assertThatThrownBy(() -> group.run(_ -> {})).isInstanceOf(ClosedException.class);
    }

    @Test
    void secondThreadOfARank() throws InterruptedException {
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            Communicator left = group.communicator(0);
            Thread waits = Thread.ofPlatform().start(left::barrier);
            Await.waiting(waits);
            assertThatThrownBy(left::barrier)
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("rank 0 is in an operation on thread");
            group.communicator(1).barrier();
            waits.join();
        }
    }

    /** A task that asks its group for something must not wait for itself. */
    @Test
    void aTaskUsesItsGroup() {
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            group.run(rank -> {
                assertThat(group.communicator(rank.rank())).isSameAs(rank);
                assertThatThrownBy(() -> group.run(_ -> {}))
                        .isInstanceOf(InputException.class)
                        .hasMessageContaining("cannot run its own group");
                rank.barrier();
            });
            afterwards(group);
        }
    }

    @Test
    void aTaskClosesItsGroup() {
        InProcessGroup group = Groups.open(2, Algorithm.AUTO);
        group.run(rank -> {
            if (rank.rank() == 0) {
                group.close();
            } else {
                assertThatThrownBy(() -> {
                            while (true) {
                                rank.barrier();
                            }
                        })
                        .isInstanceOfAny(DeadRankException.class, ClosedException.class);
            }
        });
        assertThatThrownBy(() -> group.run(_ -> {})).isInstanceOf(ClosedException.class);
    }

    /** Whatever is wrong with a call, the others need not wait for it. */
    @Test
    void aCallThatFailsInAnUnforeseenWay() {
        Buffer odd = new Buffer() {
            @Override
            public DType dtype() {
                return DType.F32;
            }

            @Override
            public long length() {
                return 2;
            }
        };
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            group.run(rank -> {
                if (rank.rank() == 0) {
                    // no reduction at all
                    assertThatThrownBy(() -> rank.allReduce(odd, odd, ReduceOp.SUM))
                            .isInstanceOf(RuntimeException.class);
                    assertThatThrownBy(() -> rank.broadcast(odd, 0)).isInstanceOf(RuntimeException.class);
                } else {
                    for (int call = 0; call < 2; call++) {
                        assertThatThrownBy(() -> rank.allReduce(new float[2], ReduceOp.SUM))
                                .isInstanceOf(CollectiveMismatchException.class)
                                .hasMessageContaining("rank 0, whose call was refused");
                    }
                }
                rank.barrier();
            });
        }
    }

    /**
     * An Error in the middle of a copy, as the JVM throws it for a mapped file that became shorter, is no reason for
     * the sender to wait for ever.
     */
    @Test
    void aMessageThatCannotBeRead(@TempDir Path folder) throws IOException {
        int bytes = 1 << 20;
        Path file = folder.resolve("mapped");
        Files.write(file, new byte[bytes]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared();
                InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            HostBuffer mapped = HostBuffer.of(channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena), DType.F32);
            channel.truncate(0);
            HostBuffer other = HostBuffer.of(new float[bytes / 4]);
            HostBuffer back = HostBuffer.of(new float[0]);
            group.run(rank -> {
                if (rank.rank() == 0) {
                    assertThatThrownBy(() -> rank.sendRecv(mapped, 1, back, 1))
                            .isInstanceOf(CollectiveMismatchException.class)
                            .hasMessageContaining("rank 1 ");
                } else {
                    assertThatThrownBy(() -> rank.sendRecv(back, 0, other, 0)).isInstanceOf(InternalError.class);
                }
            });
        }
    }
}
