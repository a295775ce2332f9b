package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order in which several ranks of one process enqueue, and graphs. */
@EndsInTime
class GpuOrderTest {
    private static final int ROUNDS = 500;

    /** Two communicators over the same devices, a thread for each, pauses and allocations in between. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("NC-01 two groups a thread for each device")
    void twoGroupsAThreadForEachDevice(boolean oneShot) {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup one = gpus.group(Gpus.options().withOneShot(oneShot));
                GpuGroup two = gpus.group(Gpus.options().withOneShot(oneShot))) {
            gpus.parallel(rank -> {
                Random random = new Random(rank);
                for (int round = 0; round < ROUNDS; round++) {
                    int length = round % 3;
                    DeviceSlice first = gpus.upload(rank, DType.F32, filled(length, rank + 1));
                    Thread.sleep(random.nextInt(3));
                    DeviceSlice second = gpus.upload(rank, DType.F32, filled(length, rank + 1));
                    one.communicator(rank).allReduce(first, first, ReduceOp.SUM);
                    try (DeviceBuffer between = gpus.contexts.get(rank).allocate(1 << 20)) {
                        assertThat(between.bytes()).isEqualTo(1 << 20);
                    }
                    two.communicator(rank).allReduce(second, second, ReduceOp.SUM);
                    one.communicator(rank).await();
                    two.communicator(rank).await();
                    assertThat(gpus.download(rank, first)).isEqualTo(filled(length, 3));
                    assertThat(gpus.download(rank, second)).isEqualTo(filled(length, 3));
                    first.memory().close();
                    second.memory().close();
                }
            });
        }
    }

    /** The same from one thread that drives both devices. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("NC-01 two groups one thread")
    void twoGroupsOneThread(boolean oneShot) throws InterruptedException {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup one = gpus.group(Gpus.options().withOneShot(oneShot));
                GpuGroup two = gpus.group(Gpus.options().withOneShot(oneShot))) {
            Random random = new Random(7);
            for (int round = 0; round < ROUNDS; round++) {
                int length = round % 3;
                List<DeviceSlice> slices = new ArrayList<>();
                for (int rank = 0; rank < 2; rank++) {
                    slices.add(gpus.upload(rank, DType.F32, filled(length, rank + 1)));
                    slices.add(gpus.upload(rank, DType.F32, filled(length, rank + 1)));
                    Thread.sleep(random.nextInt(2));
                }
                boolean reversed = random.nextBoolean();
                one.together(() -> {
                    for (int i = 0; i < 2; i++) {
                        int rank = reversed ? 1 - i : i;
                        DeviceSlice first = slices.get(2 * rank);
                        DeviceSlice second = slices.get(2 * rank + 1);
                        one.communicator(rank).allReduce(first, first, ReduceOp.SUM);
                        two.communicator(rank).allReduce(second, second, ReduceOp.SUM);
                    }
                });
                for (int rank = 0; rank < 2; rank++) {
                    one.communicator(rank).await();
                    two.communicator(rank).await();
                    assertThat(gpus.download(rank, slices.get(2 * rank))).isEqualTo(filled(length, 3));
                    assertThat(gpus.download(rank, slices.get(2 * rank + 1))).isEqualTo(filled(length, 3));
                }
                slices.forEach(slice -> slice.memory().close());
            }
        }
    }

    /**
     * What fails while it is being said enqueues nothing, so the group is as it was; short and long by turns keep their
     * order.
     */
    @Test
    void togetherIsAllOrNothing() {
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group()) {
            List<DeviceSlice> slices = List.of(
                    gpus.upload(0, DType.F32, filled(1 << 20, 1)), gpus.upload(1, DType.F32, filled(1 << 20, 2)));
            assertThatThrownBy(() -> group.together(() -> {
                        group.communicator(0).allReduce(slices.get(0), slices.get(0), ReduceOp.SUM);
                        group.communicator(1)
                                .allReduce(slices.get(1), slices.get(1).slice(0, 1), ReduceOp.SUM);
                    }))
                    .isInstanceOf(InputException.class);
            assertThatThrownBy(() -> group.together(() -> group.communicator(0).allReduce(new float[1], ReduceOp.SUM)))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("together()");
            group.together(() -> {
                for (int rank = 0; rank < 2; rank++) {
                    DeviceSlice all = slices.get(rank);
                    DeviceSlice some = all.slice(0, 5);
                    group.communicator(rank).allReduce(some, some, ReduceOp.SUM); // 3
                    group.communicator(rank).allReduce(all, all, ReduceOp.SUM); // 6, others 3
                    group.communicator(rank).allReduce(some, some, ReduceOp.SUM); // 12
                }
            });
            double[] expected = filled(1 << 20, 3);
            java.util.Arrays.fill(expected, 0, 5, 12);
            for (int rank = 0; rank < 2; rank++) {
                group.communicator(rank).await();
                assertThat(gpus.download(rank, slices.get(rank))).isEqualTo(expected);
            }
        }
    }

    /** Captured on given streams, replayed, with calls outside of graphs in between. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void captureAndReplay(boolean oneShot) {
        int length = 4099;
        int calls = 5;
        try (Gpus gpus = Gpus.open(2);
                GpuGroup group = gpus.group(Gpus.options().withOneShot(oneShot))) {
            gpus.parallel(rank -> {
                GpuStream stream = gpus.contexts.get(rank).newStream();
                GpuCommunicator own = group.communicator(rank).on(stream);
                DeviceSlice data = gpus.upload(rank, DType.F32, filled(length, 0));
                DeviceSlice other = gpus.upload(rank, DType.F32, filled(length, 0));
                stream.beginCapture();
                for (int call = 0; call < calls; call++) {
                    own.allReduce(data, other, ReduceOp.SUM);
                    own.allReduce(other, data, ReduceOp.MEAN);
                }
                try (CapturedGraph captured = stream.endCapture();
                        ExecutableGraph graph = captured.instantiate()) {
                    for (int replay = 0; replay < 10; replay++) {
                        gpus.write(rank, data, filled(length, rank + 1 + replay));
                        stream.launch(graph);
                        own.await();
                        // 2r+3 is the sum of the first; each later pair doubles it
                        double sum = (2 * replay + 3) * Math.pow(2, calls - 1);
                        assertThat(gpus.download(rank, data)).isEqualTo(filled(length, sum));
                        own.allReduce(other, other, ReduceOp.MEAN);
                        own.await();
                        assertThat(gpus.download(rank, other)).isEqualTo(filled(length, sum));
                    }
                }
            });
        }
    }

    private static double[] filled(int length, double value) {
        double[] values = new double[length];
        java.util.Arrays.fill(values, value);
        return values;
    }
}
