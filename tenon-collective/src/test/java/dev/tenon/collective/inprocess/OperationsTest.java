package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.DeadRankException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Everything but the all-reduce. */
@Timeout(60)
final class OperationsTest {
    private static final int[] LENGTHS = {0, 1, 2, 3, 5, 7, 31, 33, 1023, 5003};

    private static float[] vector(int length, float first) {
        float[] vector = new float[length];
        for (int i = 0; i < length; i++) {
            vector[i] = first + i;
        }
        return vector;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 16})
    void reduceScatter(int world) {
        try (InProcessGroup group = Groups.open(world, Algorithm.AUTO)) {
            for (int length : LENGTHS) {
                group.run(rank -> {
                    Chunks chunks = new Chunks(length, world);
                    int start = (int) chunks.start(rank.rank());
                    float[] whole = vector(length, 10 * rank.rank());
                    rank.allReduce(whole, ReduceOp.SUM);
                    float[] expected = Arrays.copyOfRange(whole, start, (int) chunks.end(rank.rank()));

                    float[] source = vector(length, 10 * rank.rank());
                    float[] mine = new float[expected.length];
                    rank.reduceScatter(source, mine, ReduceOp.SUM);
                    assertThat(mine).isEqualTo(expected);
                    assertThat(source).isEqualTo(vector(length, 10 * rank.rank()));

                    HostBuffer inPlace = HostBuffer.of(source);
                    rank.reduceScatter(inPlace, inPlace.slice(start, expected.length), ReduceOp.SUM);
                    assertThat(Arrays.copyOfRange(source, start, start + expected.length))
                            .isEqualTo(expected);
                });
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 16})
    void allGather(int world) {
        try (InProcessGroup group = Groups.open(world, Algorithm.AUTO)) {
            for (int length : LENGTHS) {
                group.run(rank -> {
                    Chunks chunks = new Chunks(length, world);
                    int start = (int) chunks.start(rank.rank());
                    int size = (int) chunks.size(rank.rank());
                    float[] all = new float[length];
                    rank.allGather(vector(size, start), all);
                    assertThat(all).isEqualTo(vector(length, 0));

                    float[] inPlace = new float[length];
                    System.arraycopy(vector(size, start), 0, inPlace, start, size);
                    HostBuffer whole = HostBuffer.of(inPlace);
                    rank.allGather(whole.slice(start, size), whole);
                    assertThat(inPlace).isEqualTo(vector(length, 0));
                });
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void broadcast(int world) {
        try (InProcessGroup group = Groups.open(world, Algorithm.AUTO)) {
            for (int length : LENGTHS) {
                group.run(rank -> {
                    for (int root = 0; root < world; root++) {
                        float[] data = vector(length, 1000 * rank.rank());
                        rank.broadcast(data, root);
                        assertThat(data).isEqualTo(vector(length, 1000 * root));
                    }
                    HostBuffer flags =
                            HostBuffer.of(MemorySegment.ofArray(new byte[] {(byte) rank.rank(), 1}), DType.BOOL);
                    rank.broadcast(flags, 0);
                    assertThat(flags.memory().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0))
                            .isZero();
                });
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void sendRecvRound(int world) {
        try (InProcessGroup group = Groups.open(world, Algorithm.AUTO)) {
            group.run(rank -> {
                float[] token = vector(33, 100 * rank.rank());
                for (int hop = 1; hop <= world; hop++) {
                    float[] next = new float[33];
                    rank.sendRecv(token, (rank.rank() + 1) % world, next, (rank.rank() + world - 1) % world);
                    token = next;
                    assertThat(token).isEqualTo(vector(33, 100 * Math.floorMod(rank.rank() - hop, world)));
                }
            });
        }
    }

    @Test
    void sendRecvOfTwoLeavesTheThirdAlone() {
        try (InProcessGroup group = Groups.open(3, Algorithm.AUTO)) {
            group.run(rank -> {
                if (rank.rank() < 2) {
                    float[] got = new float[1];
                    rank.sendRecv(new float[] {rank.rank()}, 1 - rank.rank(), got, 1 - rank.rank());
                    assertThat(got).containsExactly(1 - rank.rank());
                }
                rank.barrier();
            });
        }
    }

    @Test
    void sendRecvMismatch() {
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO)) {
            group.run(rank -> {
                float[] got = {-1, -1};
                float[] sent = new float[rank.rank() == 0 ? 3 : 2];
                assertThatThrownBy(() -> rank.sendRecv(sent, 1 - rank.rank(), got, 1 - rank.rank()))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("rank 0 sends 3 f32, rank 1 receives 2 f32");
                if (rank.rank() == 1) {
                    assertThat(got).containsExactly(-1, -1);
                }
                rank.barrier();
                float[] right = new float[2];
                rank.sendRecv(new float[] {1, rank.rank()}, 1 - rank.rank(), right, 1 - rank.rank());
                assertThat(right).containsExactly(1, 1 - rank.rank());
            });
        }
    }

    @Test
    void sendRecvWithoutAPeer() {
        Duration soon = Duration.ofMillis(100);
        CountDownLatch over = new CountDownLatch(1);
        try (InProcessGroup group = Groups.open(2, Algorithm.AUTO, soon)) {
            group.run(rank -> {
                if (rank.rank() == 0) {
                    assertThatThrownBy(() -> rank.sendRecv(new float[1], 1, new float[1], 1))
                            .isInstanceOf(CollectiveTimeoutException.class)
                            .hasMessageContaining("waited 100 ms for rank 1 to send 1 f32");
                    over.countDown();
                } else {
                    over.await();
                }
            });
            assertThatThrownBy(() -> group.run(rank -> {
                        if (rank.rank() == 0) {
                            rank.sendRecv(new float[1], 1, new float[1], 1);
                        }
                    }))
                    .isInstanceOf(DeadRankException.class);
            assertThatThrownBy(() -> group.communicator(0).sendRecv(new float[1], 2, new float[1], 0))
                    .isInstanceOf(InputException.class);
        }
    }

    @Test
    void barrierHoldsEverybody() {
        AtomicInteger before = new AtomicInteger();
        try (InProcessGroup group = Groups.open(6, Algorithm.AUTO)) {
            group.run(rank -> {
                for (int round = 1; round <= 200; round++) {
                    before.incrementAndGet();
                    rank.barrier();
                    assertThat(before.get()).isGreaterThanOrEqualTo(6 * round);
                    rank.barrier();
                }
            });
        }
        assertThat(before).hasValue(1200);
    }
}
