package dev.tenon.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

/** What each process does under {@code mpirun}: the cases named as arguments; ends with 0 when all hold. */
final class Ranks {
    private static final int[] LENGTHS = {0, 1, 2, 3, 5, 7, 1023, 1_000_003};
    private static final DType[] TYPES = {
        DType.F64,
        DType.F32,
        DType.F16,
        DType.BF16,
        DType.F8E5M2,
        DType.I64,
        DType.I32,
        DType.I16,
        DType.I8,
        DType.U64,
        DType.U32,
        DType.U16,
        DType.U8
    };

    private Ranks() {}

    public static void main(String[] args) throws InterruptedException {
        boolean late = args[0].equals("late");
        Communicator rank = MpiCommunicator.open(
                MpiOptions.defaults().withTimeout(late ? Duration.ofMillis(500) : Duration.ofSeconds(30)));
        if (args[0].equals("closing")) {
            closing(rank);
            System.out.println("rank " + rank.rank() + " closed");
            return;
        }
        if (late) {
            late(rank);
            System.out.println("rank " + rank.rank() + " saw it");
            System.out.flush();
            return;
        }
        nullPointersAreStillExceptions();
        reductions(rank);
        specialValues(rank);
        scatterAndGather(rank);
        messages(rank);
        disagreements(rank);
        rank.barrier();
        rank.close();
        rank.close();
        assertThatThrownBy(rank::barrier).isInstanceOf(ClosedException.class);
        System.out.println("rank " + rank.rank() + " of " + rank.world() + " done");
    }

    /** The trap: UCX's signal handler made this the end of the process. */
    private static void nullPointersAreStillExceptions() {
        int[][] nothing = new int[1][];
        for (int i = 0; i < 20_000; i++) {
            assertThatThrownBy(() -> nothing[0][0]++).isInstanceOf(NullPointerException.class);
        }
    }

    private static void reductions(Communicator rank) {
        int world = rank.world();
        for (int length : LENGTHS) {
            float[] data = new float[length];
            for (int i = 0; i < length; i++) {
                data[i] = 10f * rank.rank() + i;
            }
            float[] target = new float[length];
            rank.allReduce(data, target, ReduceOp.SUM);
            rank.allReduce(data, ReduceOp.SUM);
            for (int i = 0; i < length; i++) {
                if (data[i] != world * i + 10 * world * (world - 1) / 2 || target[i] != data[i]) {
                    assertThat(data[i])
                            .as("element " + i)
                            .isEqualTo(target[i])
                            .isEqualTo(world * (i + 5f * (world - 1)));
                }
            }
        }
        for (DType dtype : TYPES) {
            for (ReduceOp op : ReduceOp.values()) {
                MemorySegment mine = MemorySegment.ofArray(new byte[3 * dtype.bytes()]);
                for (int i = 0; i < 3; i++) {
                    Elements.setLong(dtype, mine, i, rank.rank() + 1L + i);
                }
                rank.allReduce(mine, dtype, op);
                for (int i = 0; i < 3; i++) {
                    assertThat(Elements.bits(dtype, mine, i))
                            .as(dtype + " " + op + " " + i)
                            .isEqualTo(expected(dtype, op, i, world));
                }
            }
        }
    }

    private static long expected(DType dtype, ReduceOp op, int i, int world) {
        double sum = 0;
        double product = 1;
        for (int rank = 0; rank < world; rank++) {
            sum += rank + 1 + i;
            product *= rank + 1 + i;
        }
        double value = switch (op) {
            case SUM -> sum;
            case PROD -> product;
            case MAX -> world + i;
            case MIN -> 1 + i;
            case MEAN -> dtype.isFloat() ? sum / world : (long) sum / world;
        };
        return dtype.isFloat() ? Elements.fromDouble(dtype, value) : Elements.fromLong(dtype, (long) value);
    }

    private static void specialValues(Communicator rank) {
        int last = rank.world() - 1;
        for (ReduceOp op : ReduceOp.values()) {
            for (int at : new int[] {0, last}) {
                float[] data = {1, rank.rank() == at ? Float.NaN : 2, 3};
                rank.allReduce(data, op);
                assertThat(Float.isNaN(data[1])).as(op + " NaN on " + at).isTrue();
                assertThat(Float.isNaN(data[0]) || Float.isNaN(data[2])).isFalse();
                double[] doubles = {rank.rank() == at ? Double.NaN : 2};
                HostBuffer buffer = HostBuffer.of(doubles);
                rank.allReduce(buffer, buffer, op);
                assertThat(doubles[0]).isNaN();
            }
        }
        float[] zeros = {rank.rank() == 0 ? -0f : 0f, -rank.rank(), Float.NEGATIVE_INFINITY};
        rank.allReduce(zeros, ReduceOp.MAX);
        assertThat(zeros).containsExactly(0f, -0f + 0f, Float.NEGATIVE_INFINITY);
        float[] least = {rank.rank() == 0 ? 0f : -0f, -rank.rank(), Float.POSITIVE_INFINITY};
        rank.allReduce(least, ReduceOp.MIN);
        assertThat(least).containsExactly(-0f, -last, Float.POSITIVE_INFINITY);
        MemorySegment large = MemorySegment.ofArray(new long[] {rank.rank() == 0 ? -1 : 5});
        rank.allReduce(large, DType.U64, ReduceOp.MAX);
        assertThat(Elements.getLong(DType.U64, large, 0)).isEqualTo(-1);
    }

    private static void scatterAndGather(Communicator rank) {
        for (int length : LENGTHS) {
            Chunks chunks = new Chunks(length, rank.world());
            int start = (int) chunks.start(rank.rank());
            int size = (int) chunks.size(rank.rank());
            float[] whole = new float[length];
            Arrays.fill(whole, 1 + rank.rank());
            float[] mine = new float[size];
            rank.reduceScatter(whole, mine, ReduceOp.MEAN);
            float[] expected = new float[size];
            Arrays.fill(expected, (rank.world() + 1) / 2f);
            assertThat(mine).isEqualTo(expected);

            for (int i = 0; i < size; i++) {
                mine[i] = start + i;
            }
            rank.allGather(mine, whole);
            for (int i = 0; i < length; i++) {
                assertThat(whole[i] == i).isTrue();
            }
            float[] data = new float[length];
            Arrays.fill(data, rank.rank());
            rank.broadcast(data, rank.world() - 1);
            assertThat(length == 0 || (data[0] == rank.world() - 1 && data[length - 1] == rank.world() - 1))
                    .isTrue();
            Tensor tensor = Tensor.of(data, length);
            rank.allReduce(tensor, ReduceOp.SUM);
            Arrays.fill(data, rank.world() * (rank.world() - 1));
            assertThat(tensor.toFloats()).isEqualTo(data);
        }
    }

    private static void messages(Communicator rank) {
        int world = rank.world();
        float[] got = new float[2];
        rank.sendRecv(new float[] {rank.rank(), 7}, (rank.rank() + 1) % world, got, (rank.rank() + world - 1) % world);
        assertThat(got).containsExactly((rank.rank() + world - 1) % world, 7);
        if (rank.rank() < 2) {
            float[] sent = new float[rank.rank() == 0 ? 3 : 2];
            int peer = 1 - rank.rank();
            assertThatThrownBy(() -> rank.sendRecv(sent, peer, got, peer))
                    .isInstanceOf(CollectiveMismatchException.class)
                    .hasMessageContaining("rank 0 sends 3 f32, rank 1 receives 2 f32");
        }
    }

    /** AR-02. */
    private static void disagreements(Communicator rank) {
        float[] mine = new float[rank.rank() == 0 ? 4 : 5];
        mine[0] = rank.rank();
        float[] before = mine.clone();
        long start = System.nanoTime();
        assertThatThrownBy(() -> rank.allReduce(mine, ReduceOp.SUM))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("of 4 f32")
                .hasMessageContaining("of 5 f32");
        assertThat(System.nanoTime() - start).isLessThan(2_000_000_000L);
        assertThat(mine).isEqualTo(before);
        float[] four = {1, 2, 3, 4};
        HostBuffer doubles = HostBuffer.of(new double[4]);
        assertThatThrownBy(() -> {
                    if (rank.rank() == 1) {
                        rank.allReduce(doubles, doubles, ReduceOp.SUM);
                    } else {
                        rank.allReduce(four, ReduceOp.SUM);
                    }
                })
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("f64");
        assertThatThrownBy(() -> rank.allReduce(four, rank.rank() == 1 ? ReduceOp.MAX : ReduceOp.SUM))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("max");
        float[] target = new float[rank.rank() == 1 ? 3 : 4];
        assertThatThrownBy(() -> rank.allReduce(four, target, ReduceOp.SUM))
                .isInstanceOf(rank.rank() == 1 ? InputException.class : CollectiveMismatchException.class);
        assertThat(four).containsExactly(1, 2, 3, 4);
        rank.allReduce(four, ReduceOp.MAX);
        assertThat(four).containsExactly(1, 2, 3, 4);
    }

    /** One rank never comes: the others' wait ends, and so does everything after. */
    private static void late(Communicator rank) {
        if (rank.rank() == 0) {
            try {
                Thread.sleep(2000); // longer than the others wait
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return;
        }
        assertThatThrownBy(() -> rank.allReduce(new float[3], ReduceOp.SUM))
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("waited 500 ms");
        assertThatThrownBy(rank::barrier).isInstanceOf(CollectiveAbortedException.class);
        rank.close();
    }

    /** One thread waits in an operation, another closes: the operation ends first. */
    private static void closing(Communicator rank) throws InterruptedException {
        if (rank.rank() == 0) {
            Thread.sleep(1500); // comes late, so that the others wait
            rank.barrier();
            rank.close();
            return;
        }
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread waiting = Thread.ofPlatform().start(() -> {
            try {
                rank.barrier();
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        Await.waiting(waiting);
        rank.close();
        waiting.join();
        assertThat(failure.get()).isNull();
    }
}
