package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * AR-03: a rank dies, never comes or is interrupted; the other ranks wait no longer than the timeout, and every thread
 * ends.
 */
@Timeout(60)
final class PeerFailureCasesTest {
    private static final int WORLD = 4;
    private static final Duration SOON = Duration.ofSeconds(3);

    /** What an unlucky rank does instead of its call number {@code step}. */
    private enum Mishap {
        THROWS,
        NEVER_CALLS,
        IS_INTERRUPTED
    }

    @ParameterizedTest(name = "AR-03 rank {1} {0} at call {2}, {3}")
    @CsvSource({
        "THROWS, 2, 0, RING",
        "THROWS, 2, 1, RING",
        "THROWS, 2, 2, RING",
        "THROWS, 2, 3, RING",
        "THROWS, 2, 4, RING",
        "THROWS, 2, 5, RING",
        "THROWS, 2, 3, DIRECT",
        "THROWS, 2, 3, DOUBLING",
        "NEVER_CALLS, 3, 2, RING",
        "NEVER_CALLS, 3, 2, DIRECT",
        "IS_INTERRUPTED, 1, 2, RING",
        "IS_INTERRUPTED, 1, 2, DIRECT",
    })
    void othersEndWithinTheTimeout(Mishap mishap, int unlucky, int step, Algorithm algorithm) throws Exception {
        InProcessGroup group = Groups.open(WORLD, algorithm, SOON);
        List<Thread> threads = new ArrayList<>();
        ConcurrentLinkedQueue<Object> ends = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < WORLD; i++) {
            Communicator rank = group.communicator(i);
            threads.add(Thread.ofPlatform().daemon().start(() -> ends.add(work(rank, mishap, unlucky, step))));
        }
        for (Thread thread : threads) {
            thread.join(SOON.toMillis() + 5_000);
            assertThat(thread.isAlive()).as(thread.getName()).isFalse();
        }
        assertThat(ends).hasSize(WORLD).allMatch("ended"::equals);
        long start = System.nanoTime();
        group.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    private static Object work(Communicator rank, Mishap mishap, int unlucky, int step) {
        try {
            float[] mine = {1, 2, 3};
            try {
                for (int call = 0; call < step; call++) {
                    rank.allReduce(mine, ReduceOp.MAX);
                }
            } catch (CollectiveException e) {
                // one that aborts after its own calls may meet others that are still in the last of theirs
                assertThat(mishap).isEqualTo(Mishap.THROWS);
                assertThat(e).hasMessageContaining("planted");
            }
            if (rank.rank() == unlucky) {
                switch (mishap) {
                    case THROWS -> {
                        rank.abort("planted"); // what run() does for a task that throws
                        return "ended";
                    }
                    case NEVER_CALLS -> {
                        return "ended";
                    }
                    case IS_INTERRUPTED -> Thread.currentThread().interrupt();
                }
            }
            long start = System.nanoTime();
            if (mishap == Mishap.IS_INTERRUPTED) {
                interrupted(rank, mine);
            } else {
                assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM)).isInstanceOf(CollectiveException.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON.plusSeconds(1));
            if (mishap != Mishap.IS_INTERRUPTED) {
                start = System.nanoTime();
                assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM)).isInstanceOf(TenonException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON.dividedBy(2));
            }
            return "ended";
        } catch (AssertionError | RuntimeException e) {
            return e;
        }
    }

    /** An interrupted rank that comes last has nothing to wait for: then the call succeeds, on every rank. */
    private static void interrupted(Communicator rank, float[] mine) {
        try {
            rank.allReduce(mine, ReduceOp.SUM);
            assertThat(mine[0]).isEqualTo(WORLD);
        } catch (CollectiveException e) {
            assertThat(e).hasMessageContaining("interrupted");
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    @DisplayName("AR-03 a rank that throws ends the others' calls, and the next run is whole")
    void throwingTask(Algorithm algorithm) {
        try (InProcessGroup group = Groups.open(WORLD, algorithm, SOON)) {
            for (int k = 0; k <= 5; k++) {
                int step = k;
                assertThatThrownBy(() -> group.run(rank -> {
                            for (int call = 0; call <= 5; call++) {
                                if (rank.rank() == 2 && call == step) {
                                    throw new IllegalStateException("planted");
                                }
                                rank.allReduce(new float[] {1, 2, 3}, ReduceOp.SUM);
                            }
                        }))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("planted");
            }
            group.run(rank -> {
                float[] mine = {1};
                rank.allReduce(mine, ReduceOp.SUM);
                assertThat(mine).containsExactly(WORLD);
            });
        }
    }

    @Test
    @DisplayName("AR-03 close() from one rank and from all, while others wait")
    void closing() throws Exception {
        for (boolean all : new boolean[] {false, true}) {
            InProcessGroup group = Groups.open(WORLD, Algorithm.RING, Duration.ofSeconds(30));
            List<Thread> threads = new ArrayList<>();
            ConcurrentLinkedQueue<Throwable> ends = new ConcurrentLinkedQueue<>();
            for (int i = 1; i < WORLD; i++) {
                Communicator rank = group.communicator(i);
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    try {
                        rank.barrier();
                    } catch (RuntimeException e) {
                        ends.add(e);
                    }
                }));
            }
            threads.forEach(Await::waiting);
            long start = System.nanoTime();
            group.communicator(0).close();
            if (all) {
                group.close();
            }
            for (Thread thread : threads) {
                thread.join(5_000);
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(ends).hasSize(WORLD - 1).allMatch(TenonException.class::isInstance);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            group.close();
        }
    }
}
