package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** AR-02: ranks that disagree all learn of it, nothing moves, and the group goes on. */
final class AgreementTest {
    private interface Wrong {
        void call(Communicator rank, float[] mine);
    }

    /**
     * Every rank gets the mismatch within two seconds, naming its own value and another's; its buffer is as it was; a
     * right call follows.
     */
    private static void disagree(Algorithm algorithm, int[] lengths, String one, String other, Wrong wrong) {
        try (InProcessGroup group = Groups.open(4, algorithm, Groups.SHORT)) {
            group.run(rank -> {
                float[] mine = new float[lengths[rank.rank()]];
                for (int i = 0; i < mine.length; i++) {
                    mine[i] = 100f * rank.rank() + i;
                }
                float[] before = mine.clone();
                long start = System.nanoTime();
                assertThatThrownBy(() -> wrong.call(rank, mine))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("rank " + rank.rank())
                        .hasMessageContaining(one)
                        .hasMessageContaining(other);
                assertThat(System.nanoTime() - start).isLessThan(Groups.SHORT.toNanos());
                assertThat(mine).isEqualTo(before);
                float[] right = {rank.rank(), 1};
                rank.allReduce(right, ReduceOp.SUM);
                assertThat(right).containsExactly(6, 4);
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    @DisplayName("AR-02 lengths")
    void lengths(Algorithm algorithm) {
        disagree(
                algorithm,
                new int[] {4, 5, 5, 5},
                "of 4 f32",
                "of 5 f32",
                (rank, mine) -> rank.allReduce(mine, ReduceOp.SUM));
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    @DisplayName("AR-02 dtypes")
    void dtypes(Algorithm algorithm) {
        disagree(algorithm, new int[] {4, 4, 4, 4}, "of 4 f32", "of 4 f64", (rank, mine) -> {
            if (rank.rank() == 2) {
                HostBuffer doubles = HostBuffer.of(new double[4]);
                rank.allReduce(doubles, doubles, ReduceOp.SUM);
            } else {
                rank.allReduce(mine, ReduceOp.SUM);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    @DisplayName("AR-02 reductions")
    void reductions(Algorithm algorithm) {
        disagree(
                algorithm,
                new int[] {4, 4, 4, 4},
                "sum",
                "max",
                (rank, mine) -> rank.allReduce(mine, rank.rank() == 3 ? ReduceOp.MAX : ReduceOp.SUM));
    }

    @Test
    void operationsAndRoots() {
        disagree(Algorithm.AUTO, new int[] {4, 4, 4, 4}, "barrier", "allReduce", (rank, mine) -> {
            if (rank.rank() == 0) {
                rank.barrier();
            } else {
                rank.allReduce(mine, ReduceOp.SUM);
            }
        });
        disagree(
                Algorithm.AUTO,
                new int[] {4, 4, 4, 4},
                "root 0",
                "root 1",
                (rank, mine) -> rank.broadcast(mine, rank.rank() == 1 ? 1 : 0));
    }

    /** A call that is wrong in itself is refused where it is made, and the others need not wait for it. */
    @Test
    void refusedCall() {
        try (InProcessGroup group = Groups.open(3, Algorithm.AUTO)) {
            group.run(rank -> {
                float[] mine = {1, 2};
                if (rank.rank() == 1) {
                    assertThatThrownBy(() -> rank.allReduce(mine, new float[3], ReduceOp.SUM))
                            .isInstanceOf(InputException.class)
                            .hasMessage("allReduce: the target is 3 f32, the result is 2 f32");
                } else {
                    assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM))
                            .isInstanceOf(CollectiveMismatchException.class)
                            .hasMessageContaining("rank 1, whose call was refused")
                            .hasMessageContaining("the target is 3 f32");
                }
                rank.allReduce(mine, ReduceOp.SUM);
                assertThat(mine).containsExactly(3, 6);
            });
        }
    }

    /** One rank's memory cannot be another's: results would depend on who comes first. */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void sharedMemory(Algorithm algorithm) {
        float[] shared = {1, 2, 3};
        try (InProcessGroup group = Groups.open(2, algorithm)) {
            group.run(rank -> assertThatThrownBy(() -> rank.allReduce(shared, ReduceOp.SUM))
                    .isInstanceOf(CollectiveMismatchException.class)
                    .hasMessageContaining("ranks 0 and 1 gave the same memory"));
        }
        assertThat(shared).containsExactly(1, 2, 3);
    }

    @Test
    void whatOneRankCanSeeIsWrong() {
        try (InProcessGroup group = InProcessGroup.open(1);
                Arena confined = Arena.ofConfined()) {
            Communicator rank = group.communicator(0);
            MemorySegment mine = confined.allocate(8);
            assertThatThrownBy(() -> rank.allReduce(mine, DType.F32, ReduceOp.SUM))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("Arena.ofShared()");
            MemorySegment fixed = MemorySegment.ofArray(new float[2]).asReadOnly();
            assertThatThrownBy(() -> rank.allReduce(fixed, DType.F32, ReduceOp.SUM))
                    .hasMessageContaining("read-only");
            MemorySegment seven = MemorySegment.ofArray(new byte[7]);
            assertThatThrownBy(() -> rank.allReduce(seven, DType.F32, ReduceOp.SUM))
                    .hasMessage("a buffer of 7 bytes is not a whole number of f32 elements of 4 bytes");
            assertThatThrownBy(() -> rank.allReduce(seven, DType.BOOL, ReduceOp.SUM))
                    .isInstanceOf(DTypeException.class);
            assertThatThrownBy(() -> rank.allReduce(seven, DType.I4, ReduceOp.SUM))
                    .isInstanceOf(DTypeException.class);
            MemorySegment array = MemorySegment.ofArray(new byte[12]);
            assertThatThrownBy(() -> rank.allReduce(array.asSlice(0, 8), array.asSlice(4, 8), DType.I8, ReduceOp.SUM))
                    .hasMessageContaining("overlap");
            assertThatThrownBy(() -> rank.broadcast(new float[1], 1))
                    .hasMessage("broadcast: root is rank 1; ranks are 0 to 0");
            MemorySegment gone;
            try (Arena closed = Arena.ofShared()) {
                gone = closed.allocate(8);
            }
            assertThatThrownBy(() -> rank.allReduce(gone, DType.F32, ReduceOp.SUM))
                    .hasMessageContaining("closed");
            float[] fine = {1};
            rank.allReduce(fine, ReduceOp.MEAN);
            assertThat(fine).containsExactly(1);
        }
        assertThatThrownBy(() -> InProcessGroup.open(0)).isInstanceOf(InputException.class);
    }
}
