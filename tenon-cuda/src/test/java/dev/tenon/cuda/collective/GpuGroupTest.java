package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.HostBuffer;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveMismatchException;
import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every collective on 2 and 4 GPUs of one process, on device and on host memory, against exact values. */
@EndsInTime
class GpuGroupTest {
    private static final int[] LENGTHS = {0, 1, 3, 1023, 4099, 1 << 20};
    private static final List<DType> FLOATS = List.of(DType.F32, DType.F16, DType.BF16, DType.F64);
    private static final List<DType> OTHERS = List.of(DType.I32, DType.I64, DType.U8, DType.I8, DType.U32, DType.U64);

    private static List<DType> dtypes() {
        List<DType> all = new ArrayList<>(FLOATS);
        all.addAll(OTHERS);
        return all;
    }

    private static boolean exists(DType dtype, ReduceOp op) {
        return op != ReduceOp.MEAN || FLOATS.contains(dtype);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void allReduce(int world) {
        try (Gpus gpus = Gpus.open(world)) {
            for (boolean oneShot : new boolean[] {true, false}) {
                try (GpuGroup group = gpus.group(Gpus.options().withOneShot(oneShot))) {
                    gpus.parallel(rank -> {
                        for (DType dtype : dtypes()) {
                            for (ReduceOp op : ReduceOp.values()) {
                                for (int length : exists(dtype, op) ? LENGTHS : new int[0]) {
                                    allReduce(gpus, group.communicator(rank), dtype, op, length);
                                }
                            }
                        }
                    });
                }
            }
        }
    }

    /** Out of place, then in place. */
    private static void allReduce(Gpus gpus, GpuCommunicator rank, DType dtype, ReduceOp op, int length) {
        double[] values = Numbers.of(rank.rank(), length, op);
        DeviceSlice source = gpus.upload(rank.rank(), dtype, values);
        DeviceSlice target = gpus.upload(rank.rank(), dtype, new double[length]);
        double[] expected = Numbers.reduced(rank.world(), 0, length, op);
        rank.allReduce(source, target, op);
        rank.await();
        assertThat(gpus.download(rank.rank(), target)).as(op + " of " + target).isEqualTo(expected);
        assertThat(gpus.download(rank.rank(), source)).as("the source").isEqualTo(values);
        rank.allReduce(source, source, op);
        rank.await();
        assertThat(gpus.download(rank.rank(), source))
                .as(op + " of " + source + " in place")
                .isEqualTo(expected);
        source.memory().close();
        target.memory().close();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void scatterGatherBroadcastExchange(int world) {
        try (Gpus gpus = Gpus.open(world);
                GpuGroup group = gpus.group()) {
            gpus.parallel(rank -> {
                for (DType dtype : dtypes()) {
                    for (int length : LENGTHS) {
                        others(gpus, group.communicator(rank), dtype, length);
                    }
                }
                group.communicator(rank).barrier();
            });
        }
    }

    private static void others(Gpus gpus, GpuCommunicator rank, DType dtype, int length) {
        int me = rank.rank();
        int world = rank.world();
        Chunks chunks = new Chunks(length, world);
        int start = (int) chunks.start(me);
        int size = (int) chunks.size(me);
        double[] values = Numbers.of(me, length, ReduceOp.SUM);
        double[] sum = Numbers.reduced(world, start, size, ReduceOp.SUM);
        String what = " of " + length + " " + dtype;

        DeviceSlice source = gpus.upload(me, dtype, values);
        DeviceSlice part = gpus.upload(me, dtype, new double[size]);
        rank.reduceScatter(source, part, ReduceOp.SUM);
        rank.await();
        assertThat(gpus.download(me, part)).as("reduceScatter" + what).isEqualTo(sum);
        rank.reduceScatter(source, source.slice(start, size), ReduceOp.SUM);
        rank.await();
        assertThat(gpus.download(me, source.slice(start, size)))
                .as("reduceScatter in place" + what)
                .isEqualTo(sum);

        DeviceSlice whole = gpus.upload(me, dtype, new double[length]);
        rank.allGather(part, whole);
        rank.await();
        double[] all = Numbers.reduced(world, 0, length, ReduceOp.SUM);
        assertThat(gpus.download(me, whole)).as("allGather" + what).isEqualTo(all);
        gpus.write(me, whole, new double[length]);
        gpus.write(me, whole.slice(start, size), sum);
        rank.allGather(whole.slice(start, size), whole);
        rank.await();
        assertThat(gpus.download(me, whole)).as("allGather in place" + what).isEqualTo(all);

        int root = length % world;
        gpus.write(me, source, values);
        rank.broadcast(source, root);
        rank.await();
        assertThat(gpus.download(me, source)).as("broadcast" + what).isEqualTo(Numbers.of(root, length, ReduceOp.SUM));

        gpus.write(me, source, values);
        rank.sendRecv(source, (me + 1) % world, whole, (me + world - 1) % world);
        rank.await();
        assertThat(gpus.download(me, whole))
                .as("sendRecv" + what)
                .isEqualTo(Numbers.of((me + world - 1) % world, length, ReduceOp.SUM));
        rank.sendRecv(source, me, whole, me);
        rank.await();
        assertThat(gpus.download(me, whole)).as("sendRecv to itself" + what).isEqualTo(values);
        List.of(source, part, whole).forEach(slice -> slice.memory().close());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void hostMemory(int world) {
        try (Gpus gpus = Gpus.open(world);
                GpuGroup group = gpus.group()) {
            gpus.parallel(rank -> {
                for (int length : LENGTHS) {
                    host(group.communicator(rank), length);
                }
            });
        }
    }

    private static void host(GpuCommunicator rank, int length) {
        int me = rank.rank();
        int world = rank.world();
        Chunks chunks = new Chunks(length, world);
        int start = (int) chunks.start(me);
        int size = (int) chunks.size(me);
        float[] own = floats(Numbers.of(me, length, ReduceOp.SUM));
        float[] sum = floats(Numbers.reduced(world, 0, length, ReduceOp.SUM));
        float[] data = own.clone();
        rank.allReduce(data, ReduceOp.SUM);
        assertThat(data).as("allReduce of " + length).isEqualTo(sum);
        float[] part = new float[size];
        rank.reduceScatter(own, part, ReduceOp.SUM);
        assertThat(part).as("reduceScatter of " + length).isEqualTo(Arrays.copyOfRange(sum, start, start + size));
        float[] whole = new float[length];
        rank.allGather(part, whole);
        assertThat(whole).as("allGather of " + length).isEqualTo(sum);
        data = own.clone();
        rank.broadcast(data, world - 1);
        assertThat(data).as("broadcast of " + length).isEqualTo(floats(Numbers.of(world - 1, length, ReduceOp.SUM)));
        rank.sendRecv(own, (me + 1) % world, whole, (me + world - 1) % world);
        assertThat(whole)
                .as("sendRecv of " + length)
                .isEqualTo(floats(Numbers.of((me + world - 1) % world, length, ReduceOp.SUM)));
        MemorySegment halves = MemorySegment.ofArray(new byte[2 * length]);
        for (int i = 0; i < length; i++) {
            Elements.setDouble(DType.BF16, halves, i, Numbers.element(me, i, ReduceOp.MEAN));
        }
        rank.allReduce(halves, DType.BF16, ReduceOp.MEAN);
        double[] mean = Numbers.reduced(world, 0, length, ReduceOp.MEAN);
        for (int i = 0; i < length; i++) {
            assertThat(Elements.getDouble(DType.BF16, halves, i))
                    .as("mean, element " + i)
                    .isEqualTo(mean[i]);
        }
        rank.barrier();
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    @ParameterizedTest
    @ValueSource(ints = {2})
    void disagreementOnHostMemoryIsAnErrorOnEveryRank(int world) {
        try (Gpus gpus = Gpus.open(world);
                GpuGroup group = gpus.group()) {
            gpus.parallel(rank -> {
                GpuCommunicator own = group.communicator(rank);
                assertThatThrownBy(() -> own.allReduce(new float[3 + rank], ReduceOp.SUM))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("allReduce of 3 f32")
                        .hasMessageContaining("allReduce of 4 f32");
                if (rank == 0) { // wrong in itself
                    HostBuffer target = HostBuffer.of(new float[2]);
                    assertThatThrownBy(() -> own.allReduce(HostBuffer.of(new float[3]), target, ReduceOp.SUM))
                            .isInstanceOf(InputException.class);
                } else {
                    assertThatThrownBy(() -> own.allReduce(new float[3], ReduceOp.SUM))
                            .isInstanceOf(CollectiveMismatchException.class)
                            .hasMessageContaining("refused");
                }
                assertThatThrownBy(() -> own.sendRecv(new float[2 + rank], 1 - rank, new float[9], 1 - rank))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("receives 9 f32");
                float[] usable = {1, 2};
                own.allReduce(usable, ReduceOp.SUM);
                assertThat(usable).containsExactly(world, 2 * world);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2})
    void wrongArgumentsAreRefused(int world) {
        try (Gpus gpus = Gpus.open(world);
                GpuGroup group = gpus.group()) {
            GpuCommunicator rank = group.communicator(0);
            DeviceSlice ten = gpus.upload(0, DType.I32, new double[10]);
            assertThatThrownBy(() -> rank.allReduce(ten, ten.slice(0, 9), ReduceOp.SUM))
                    .isInstanceOf(InputException.class)
                    .hasMessage("allReduce: the target is 9 i32, the result is 10 i32");
            assertThatThrownBy(() -> rank.allReduce(ten.slice(0, 5), ten.slice(1, 5), ReduceOp.SUM))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("overlap");
            assertThatThrownBy(() -> rank.allReduce(ten, ten, ReduceOp.MEAN)).isInstanceOf(DTypeException.class);
            assertThatThrownBy(() -> rank.broadcast(ten, world)).isInstanceOf(InputException.class);
            assertThatThrownBy(() -> new DeviceSlice(ten.memory(), 4, 10, DType.I32))
                    .isInstanceOf(InputException.class);
            assertThatThrownBy(() -> GpuGroup.open(
                            gpus.platform,
                            List.of(gpus.contexts.get(0), gpus.contexts.get(0)),
                            GpuCollectiveOptions.defaults()))
                    .isInstanceOf(InputException.class)
                    .hasMessageContaining("2 rank(s) on 1 device(s)");
        }
    }
}
