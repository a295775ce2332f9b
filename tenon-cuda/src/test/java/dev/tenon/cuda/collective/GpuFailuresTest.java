package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveAbortedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.ir.DType;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that do not come, and groups that are aborted: every wait ends, within the timeout and some. */
@EndsInTime
class GpuFailuresTest {
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final long SLACK_SECONDS = 13;

    private static GpuCollectiveOptions options(boolean oneShot) {
        return Gpus.options().withTimeout(SHORT).withOneShot(oneShot);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRankThatDoesNotCome(boolean oneShot) {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group(options(oneShot))) {
            GpuCommunicator alone = group.communicator(0);
            DeviceSlice data = gpus.upload(0, DType.F32, new double[100]);
            long began = System.nanoTime();
            alone.allReduce(data, data, ReduceOp.SUM);
            assertThatThrownBy(alone::await)
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 0 of 2");
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .isBetween(SHORT.minusMillis(100), SHORT.plusSeconds(SLACK_SECONDS));
            assertThatThrownBy(() -> alone.allReduce(data, data, ReduceOp.SUM)).isInstanceOf(CollectiveException.class);
            assertThatThrownBy(() -> group.communicator(1).barrier()).isInstanceOf(CollectiveException.class);
            gpus.streams.get(0).synchronize(); // the device has let go, and is usable
            assertThat(gpus.download(0, gpus.upload(0, DType.F32, new double[] {5})))
                    .containsExactly(5);
        }
    }

    @Test
    void aRankThatDoesNotComeToACallOnHostMemory() {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group(options(true))) {
            assertThatThrownBy(() -> group.communicator(1).allReduce(new float[4], ReduceOp.SUM))
                    .isInstanceOf(CollectiveTimeoutException.class);
        }
    }

    /** Nobody waits; the watchdog finds it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void workThatNobodyWaitsForIsFoundToo(boolean oneShot) throws InterruptedException {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group(options(oneShot))) {
            DeviceSlice data = gpus.upload(1, DType.F32, new double[100]);
            group.communicator(1).allReduce(data, data, ReduceOp.SUM);
            Thread.sleep(SHORT.plusSeconds(2)); // the watchdog's time, in which no thread asks
            assertThatThrownBy(() -> group.communicator(0).barrier())
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 1 of 2");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void abortEndsTheWaitsOfAllRanks(boolean oneShot) {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group(Gpus.options().withOneShot(oneShot))) {
            gpus.parallel(rank -> {
                GpuCommunicator own = group.communicator(rank);
                if (rank == 1) {
                    Thread.sleep(500); // rank 0 likely waits by then; an earlier abort must end alike
                    own.abort("no more");
                } else {
                    DeviceSlice data = gpus.upload(0, DType.F32, new double[100]);
                    own.allReduce(data, data, ReduceOp.SUM);
                    assertThatThrownBy(own::await)
                            .isInstanceOf(CollectiveAbortedException.class)
                            .hasMessage("rank 0: the group was aborted by rank 1: no more");
                }
                assertThatThrownBy(own::barrier).isInstanceOf(CollectiveAbortedException.class);
            });
        }
        try (Gpus gpus = Gpus.open(2); // and the devices do another group
                GpuGroup group = gpus.group()) {
            gpus.parallel(rank -> {
                float[] data = {rank};
                group.communicator(rank).allReduce(data, ReduceOp.SUM);
                assertThat(data).containsExactly(1);
            });
        }
    }

    @Test
    void closedTwiceAndUsedAfterwards() {
        try (Gpus gpus = Gpus.open(2)) {
            GpuGroup group = gpus.group();
            group.close();
            group.close();
            group.communicator(0).close();
            assertThatThrownBy(() -> group.communicator(0).barrier()).isInstanceOf(ClosedException.class);
        }
    }
}
