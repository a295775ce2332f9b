package dev.tenon.collective.inprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Algorithm;
import dev.tenon.collective.Chunks;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.tensor.Resident;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors in host memory are host memory, whatever their shape; those of a device go to its own communicators. */
@Timeout(60)
final class TensorsTest {
    private static final int ROWS = 5;
    private static final int WIDTH = 7;
    private static final int LENGTH = ROWS * WIDTH;

    private static double[] values(int rank) {
        double[] values = new double[LENGTH];
        Arrays.setAll(values, i -> 10 * rank + i % 3);
        return values;
    }

    private static double[] sum(int world) {
        double[] sum = new double[LENGTH];
        for (int rank = 0; rank < world; rank++) {
            double[] own = values(rank);
            Arrays.setAll(sum, i -> sum[i] + own[i]);
        }
        return sum;
    }

    private static Tensor matrix(DType dtype, int rank) {
        return Tensor.of(dtype, values(rank), ROWS, WIDTH);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void everyOperation(int world) {
        try (InProcessGroup group = Groups.open(world, Algorithm.AUTO)) {
            for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.I64, DType.U8}) {
                group.run(rank -> check(rank, dtype));
            }
        }
    }

    private static void check(Communicator rank, DType dtype) {
        int me = rank.rank();
        int world = rank.world();
        Chunks chunks = new Chunks(LENGTH, world);
        Tensor own = matrix(dtype, me);
        Tensor flat = Tensor.zeros(dtype, LENGTH);
        rank.allReduce(own, flat, ReduceOp.SUM);
        assertThat(flat.toDoubles()).isEqualTo(sum(world));
        assertThat(own.toDoubles()).isEqualTo(values(me));
        Tensor part = Tensor.zeros(dtype, chunks.size(me));
        rank.reduceScatter(own, part, ReduceOp.SUM);
        assertThat(part.toDoubles())
                .isEqualTo(Arrays.copyOfRange(sum(world), (int) chunks.start(me), (int) chunks.end(me)));
        Tensor whole = Tensor.zeros(dtype, WIDTH, ROWS);
        rank.allGather(part, whole);
        assertThat(whole.toDoubles()).isEqualTo(sum(world));
        rank.sendRecv(own, (me + 1) % world, whole, (me + world - 1) % world);
        assertThat(whole.toDoubles()).isEqualTo(values((me + world - 1) % world));
        rank.allReduce(own, ReduceOp.SUM);
        assertThat(own.toDoubles()).isEqualTo(sum(world));
        Tensor spread = matrix(dtype, me);
        rank.broadcast(spread, world - 1);
        assertThat(spread.toDoubles()).isEqualTo(values(world - 1));
    }

    @Test
    void wrongOnes() {
        try (InProcessGroup group = Groups.open(1, Algorithm.AUTO)) {
            Communicator rank = group.communicator(0);
            Tensor own = matrix(DType.F32, 0);
            assertThatThrownBy(() -> rank.allReduce(own, Tensor.zeros(DType.F32, ROWS), ReduceOp.SUM))
                    .isInstanceOf(InputException.class)
                    .hasMessage("allReduce: the target is 5 f32, the result is 35 f32");
            try (Tensor elsewhere = Tensor.on(new Elsewhere(), own.type())) {
                assertThatThrownBy(() -> rank.allReduce(elsewhere, own, ReduceOp.SUM))
                        .isInstanceOf(UnsupportedException.class)
                        .hasMessageContaining("allReduce: tensor f32[5,7] lies in the memory of cuda:3")
                        .hasMessageContaining("GpuGroup");
            }
            rank.allReduce(own, ReduceOp.SUM);
            assertThat(own.toDoubles()).isEqualTo(values(0));
        }
    }

    /** Memory that nobody may read here. */
    private static final class Elsewhere implements Resident {
        @Override
        public String device() {
            return "cuda:3";
        }

        @Override
        public long version() {
            return 0;
        }

        @Override
        public void read(MemorySegment to) {
            throw new AssertionError("read");
        }

        @Override
        public void close() {}
    }
}
