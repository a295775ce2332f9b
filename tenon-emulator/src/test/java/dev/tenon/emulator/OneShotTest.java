package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.cuda.collective.DeviceSlice;
import dev.tenon.cuda.collective.OneShotGroup;
import dev.tenon.cuda.collective.OneShotRank;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelCompiler;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * All-reduce over peer memory between emulated devices, whose kernels run at the same time and write each other's
 * memory.
 */
class OneShotTest {
    private static final int[] LENGTHS = {1, 2, 3, 7, 8, 31, 1023, 2048, 4099, 4, 65_536};
    private static final int MOST_WORLD = 4;

    private final List<GpuContext> contexts = new ArrayList<>();
    private final List<GpuStream> streams = new ArrayList<>();

    private OneShotGroup open(int world, OneShotGroup.Form form) {
        Harness.require();
        EmulatorOptions options = EmulatorOptions.of(Map.of()).withWorkers(1).withDevices(world);
        EmulatorDriver driver = new EmulatorDriver(options);
        KernelCompiler compiler =
                new CachingCompiler(new EmulatorCompiler(true), KernelCache.standard(), driver::version);
        for (int rank = 0; rank < world; rank++) {
            contexts.add(driver.open(rank));
            streams.add(contexts.get(rank).newStream());
        }
        return OneShotGroup.open(contexts, compiler, form);
    }

    @AfterEach
    void close() {
        contexts.forEach(GpuContext::close);
    }

    @ParameterizedTest
    @EnumSource
    void sumsOfEveryTypeAndLength(OneShotGroup.Form form) {
        for (int world = 2; world <= MOST_WORLD; world += 2) {
            try (OneShotGroup group = open(world, form)) {
                for (DType dtype : List.of(DType.F32, DType.F16, DType.BF16)) {
                    for (int length : LENGTHS) {
                        int shift = length % 3 == 0 ? 1 : 0; // off 16-byte boundaries too
                        check(group, dtype, length, shift, ReduceOp.SUM);
                        check(group, dtype, length, 0, ReduceOp.MEAN);
                    }
                }
            } finally {
                close();
                contexts.clear();
                streams.clear();
            }
        }
    }

    private void check(OneShotGroup group, DType dtype, int length, int shift, ReduceOp op) {
        int world = contexts.size();
        Random random = new Random(length * 31L + world);
        double[][] values = new double[world][length];
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            for (int i = 0; i < length; i++) {
                values[rank][i] = rounded(dtype, random.nextGaussian() * 8);
            }
            values[rank][random.nextInt(length)] = rank == 0 ? Double.NaN : -0.0;
            buffers.add(upload(rank, dtype, values[rank], shift));
        }
        for (int rank = 0; rank < world; rank++) {
            DeviceSlice data = new DeviceSlice(buffers.get(rank), (long) shift * dtype.bytes(), length, dtype);
            group.rank(rank).enqueue(streams.get(rank), data, data, op);
        }
        for (int rank = 0; rank < world; rank++) {
            double[] result = download(rank, dtype, buffers.get(rank), length, shift);
            for (int i = 0; i < length; i++) {
                float sum = 0;
                for (int r = 0; r < world; r++) {
                    sum = r == 0 ? (float) values[0][i] : sum + (float) values[r][i];
                }
                double expected = rounded(dtype, op == ReduceOp.MEAN ? sum / world : sum);
                assertThat(result[i])
                        .as(world + " ranks, " + op + " of " + length + " " + dtype + ", rank " + rank + ", element "
                                + i)
                        .isEqualTo(Double.valueOf(expected));
            }
        }
        buffers.forEach(DeviceBuffer::close);
    }

    @ParameterizedTest
    @EnumSource
    void consecutiveCallsAndReplays(OneShotGroup.Form form) {
        int world = 2;
        int calls = 7;
        try (OneShotGroup group = open(world, form)) {
            List<DeviceBuffer> buffers = new ArrayList<>();
            List<ExecutableGraph> graphs = new ArrayList<>();
            for (int rank = 0; rank < world; rank++) {
                DeviceBuffer buffer = upload(rank, DType.F32, new double[3000], 0);
                buffers.add(buffer);
                GpuStream stream = streams.get(rank);
                stream.beginCapture();
                for (int call = 0; call < calls; call++) { // x = x of 0 + x of 1, long and short by turns
                    group.rank(rank)
                            .enqueue(
                                    stream,
                                    new DeviceSlice(buffer, 0, call % 2 == 0 ? 3000 : 5, DType.F32),
                                    new DeviceSlice(buffer, 0, call % 2 == 0 ? 3000 : 5, DType.F32),
                                    ReduceOp.MEAN);
                }
                try (CapturedGraph captured = stream.endCapture()) {
                    graphs.add(captured.instantiate());
                }
            }
            for (int replay = 0; replay < 4; replay++) {
                for (int rank = 0; rank < world; rank++) {
                    double[] values = new double[3000];
                    java.util.Arrays.setAll(values, i -> i);
                    values[replay] = 0; // both ranks' mean of equal numbers is the number
                    write(rank, DType.F32, values, buffers.get(rank), 0);
                    streams.get(rank).launch(graphs.get(rank));
                }
                for (int rank = 0; rank < world; rank++) {
                    double[] result = download(rank, DType.F32, buffers.get(rank), 3000, 0);
                    for (int i = 0; i < 3000; i++) {
                        assertThat(result[i])
                                .as("replay " + replay + ", element " + i)
                                .isEqualTo(i == replay ? 0.0 : i);
                    }
                }
            }
            graphs.forEach(ExecutableGraph::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMissingRankIsGivenUp(OneShotGroup.Form form) {
        try (OneShotGroup group = open(2, form)) {
            DeviceBuffer alone = upload(0, DType.F32, new double[100], 0);
            DeviceSlice data = DeviceSlice.of(alone, DType.F32);
            group.rank(0).enqueue(streams.get(0), data, data, ReduceOp.SUM);
            assertThat(streams.get(0).idle()).isFalse();
            group.rank(0).stop();
            streams.get(0).synchronize();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatItDoesNotDo(OneShotGroup.Form form) {
        try (OneShotGroup group = open(2, form)) {
            DeviceBuffer buffer = contexts.get(0).allocate(OneShotRank.MOST_BYTES + 4);
            DeviceSlice whole = DeviceSlice.of(buffer, DType.F32);
            assertThatThrownBy(() -> group.rank(0).enqueue(streams.get(0), whole, whole, ReduceOp.SUM))
                    .isInstanceOf(UnsupportedException.class)
                    .hasMessageContaining("1 to 65536 elements");
            DeviceSlice some = whole.slice(0, 4);
            assertThatThrownBy(() -> group.rank(0).enqueue(streams.get(0), some, some, ReduceOp.MAX))
                    .isInstanceOf(UnsupportedException.class)
                    .hasMessageContaining("max of 4 f32");
        }
        assertThatThrownBy(() -> OneShotGroup.open(contexts.subList(0, 1), new EmulatorCompiler(true), form))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("2 to 8");
    }

    private static double rounded(DType dtype, double value) {
        MemorySegment one = MemorySegment.ofArray(new byte[8]);
        Elements.setDouble(dtype, one, 0, value);
        return Elements.getDouble(dtype, one, 0);
    }

    private DeviceBuffer upload(int rank, DType dtype, double[] values, int shift) {
        DeviceBuffer buffer = contexts.get(rank).allocate((long) (values.length + shift) * dtype.bytes());
        write(rank, dtype, values, buffer, shift);
        return buffer;
    }

    private void write(int rank, DType dtype, double[] values, DeviceBuffer buffer, int shift) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate((long) values.length * dtype.bytes(), 16);
            for (int i = 0; i < values.length; i++) {
                Elements.setDouble(dtype, host, i, values[i]);
            }
            streams.get(rank).copyToDevice(host, buffer, (long) shift * dtype.bytes());
        }
    }

    private double[] download(int rank, DType dtype, DeviceBuffer buffer, int length, int shift) {
        double[] values = new double[length];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate((long) length * dtype.bytes(), 16);
            streams.get(rank).copyToHost(buffer, (long) shift * dtype.bytes(), host);
            streams.get(rank).synchronize();
            for (int i = 0; i < length; i++) {
                values[i] = Elements.getDouble(dtype, host, i);
            }
        }
        return values;
    }
}
