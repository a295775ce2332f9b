package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Grids of all shapes, on checked and unchecked kernels. */
class ExecutionTest {
    private static final String FILE = "execution.cu";

    @BeforeAll
    static void require() {
        Harness.require();
    }

    private static Harness open(boolean checked) {
        return new Harness(FILE, Harness.options(checked));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void threeDimensions(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.context.allocate(30 * 4 * 24)) {
            harness.run("shapes", new LaunchShape(5, 3, 2, 4, 3, 2, 0, false, 1, false), y);
            int[] out = harness.ints(y);
            for (int i = 0; i < out.length; i++) {
                int thread = i % 24;
                int block = i / 24;
                assertThat(out[i])
                        .isEqualTo(thread % 4
                                | thread / 4 % 3 << 4
                                | thread / 12 << 8
                                | block % 5 << 12
                                | block / 5 % 3 << 16
                                | block / 15 << 20);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 31, 32, 33, 256, 1023, 1024})
    void blocksOfAllSizes(int threads) {
        int[] x = IntStream.range(0, threads * 5).toArray();
        for (boolean checked : new boolean[] {true, false}) {
            try (Harness harness = open(checked);
                    DeviceBuffer in = harness.upload(x);
                    DeviceBuffer out = harness.context.allocate(x.length * 4L)) {
                harness.run("reverse", LaunchShape.of(5, threads), in, out);
                int[] y = harness.ints(out);
                for (int i = 0; i < y.length; i++) {
                    assertThat(y[i]).isEqualTo(i / threads * threads + threads - 1 - i % threads);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void allTheSharedMemoryThereIs(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.upload(0)) {
            GpuFunction function = harness.module.function("large_shared");
            int staticBytes = function.resources().sharedBytes();
            int most = harness.context.device().sharedBytesPerBlockOptIn() - staticBytes;
            int bytes = most & -4;
            LaunchShape shape = LaunchShape.of(1, 128).withSharedBytes(bytes);
            assertThatThrownBy(() -> harness.launch("large_shared", shape, y, bytes / 4))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("large_shared")
                    .hasMessageContaining("dynamic shared memory is allowed up to");
            function.allowSharedBytes(bytes);
            harness.run("large_shared", shape, y, bytes / 4);
            long n = bytes / 4;
            assertThat(harness.ints(y)[0]).isEqualTo((int) (n * (n - 1) / 2));
            assertThatThrownBy(() -> function.allowSharedBytes(most + 4)).isInstanceOf(NativeException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void atomicsOfAllThreads(boolean checked) {
        int n = 20 * 256;
        try (Harness harness = open(checked);
                DeviceBuffer i = harness.upload(0, 0, 0, 0);
                DeviceBuffer u = harness.upload(0, -1, 0, 0, 0, 0);
                DeviceBuffer l = harness.upload(0, 0);
                DeviceBuffer f = harness.upload(0f);
                DeviceBuffer d = harness.upload(0, 0)) {
            harness.run("atomics", LaunchShape.of(20, 256), i, u, l, f, d);
            assertThat(harness.ints(i)).containsExactly(n, 999, -999, -2 * n);
            int xor = IntStream.range(0, n).reduce(0, (a, b) -> a ^ b);
            assertThat(harness.ints(u)).containsExactly(-1, 1 << 31, xor, 7, n % 10, n - 1);
            long[] sum = new long[1];
            harness.stream.copyToHost(l, 0, MemorySegment.ofArray(sum));
            assertThat(sum[0]).isEqualTo(((long) n * (n - 1) / 2) << 20);
            assertThat(harness.floats(f)[0]).isEqualTo(n);
            double[] halves = new double[1];
            harness.stream.copyToHost(d, 0, MemorySegment.ofArray(halves));
            assertThat(halves[0]).isEqualTo(n / 2.0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void atomicsInSharedMemoryAndLocks(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.upload(new int[3]);
                DeviceBuffer mutex = harness.upload(0)) {
            harness.run("shared_atomics", LaunchShape.of(3, 300), y);
            assertThat(harness.ints(y)).containsOnly(300 * 299 / 2);
            harness.stream.fill(y, 0, 12, (byte) 0);
            harness.run("lock", LaunchShape.of(3, 64), mutex, y);
            assertThat(harness.ints(y)[0]).isEqualTo(3 * 64);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void cooperativeGridsMeet(boolean checked) {
        int blocks = 13;
        int rounds = 20;
        try (Harness harness = open(checked);
                DeviceBuffer sums = harness.upload(new int[blocks * rounds]);
                DeviceBuffer counter = harness.upload(0)) {
            harness.run("rounds", LaunchShape.of(blocks, 64).withCooperative(), sums, counter, rounds);
            int[] out = harness.ints(sums);
            int[] mine = IntStream.rangeClosed(1, blocks).toArray();
            for (int r = 0; r < rounds; r++) {
                assertThat(Arrays.copyOfRange(out, r * blocks, (r + 1) * blocks))
                        .isEqualTo(mine);
                Arrays.fill(mine, Arrays.stream(mine).sum() % 1000);
            }
            assertThatThrownBy(() -> harness.launch(
                            "rounds", LaunchShape.of(1000, 1024).withCooperative(), sums, counter, rounds))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("cooperative grid of this block has at most 16 blocks");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void globalsBelongToTheirModule(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.upload(new float[5]);
                GpuModule second = Harness.load(harness.context, Harness.image(FILE, checked))) {
            harness.run("globals", LaunchShape.of(1, 1), y);
            harness.run("globals", LaunchShape.of(1, 1), y);
            assertThat(harness.floats(y)).containsExactly(2, 1, 2, 4, 8);
            harness.stream.launch(
                    second.function("globals"),
                    LaunchShape.of(1, 1),
                    harness.arguments.clear().add(y));
            assertThat(harness.floats(y)[0]).isEqualTo(1f);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void argumentsOfAllKinds(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.upload(0, 0)) {
            MemorySegment strides = harness.arena.allocate(40, 8);
            for (int i = 0; i < 4; i++) {
                strides.setAtIndex(ValueLayout.JAVA_LONG, i, 1L << 10 * i);
            }
            strides.set(ValueLayout.JAVA_INT, 32, 3);
            harness.arguments.clear().add(strides, 8).add(y).add(2.5).add(200);
            harness.stream.launch(harness.module.function("structs"), LaunchShape.of(1, 1), harness.arguments);
            harness.arguments.clear(); // read before the call returned
            long[] out = new long[1];
            harness.stream.copyToHost(y, 0, MemorySegment.ofArray(out));
            assertThat(out[0]).isEqualTo(1 + (1 << 10) + (1 << 20) + 2 + 200);
            harness.run("empty", LaunchShape.of(70000, 1));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true})
    void refusedLaunchesAndNames(boolean checked) {
        try (Harness harness = open(checked);
                DeviceBuffer y = harness.upload(0)) {
            assertThatThrownBy(() -> harness.launch("empty", LaunchShape.of(1, 1025)))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("empty")
                    .hasMessageContaining("1024 threads");
            assertThatThrownBy(() -> harness.launch("empty", LaunchShape.of(1, 70000, 1, 1)))
                    .hasMessageContaining("65535");
            assertThatThrownBy(() -> harness.launch("empty", LaunchShape.of(1, 1), y))
                    .hasMessageContaining("0 parameters, the launch 1 arguments");
            assertThatThrownBy(() -> harness.module.function("nothing"))
                    .isInstanceOf(NativeException.class)
                    .hasMessageContaining("nothing")
                    .hasMessageContaining("shared_atomics");
            harness.run("empty", LaunchShape.of(1, 1));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bits(boolean checked) {
        int[] x = new Random(8).ints(32).toArray();
        x[0] = 0;
        x[1] = -1;
        x[2] = 1;
        try (Harness harness = open(checked);
                DeviceBuffer in = harness.upload(x);
                DeviceBuffer out = harness.context.allocate(32 * 48)) {
            harness.run("bits", LaunchShape.of(1, 32), in, out);
            int[] y = harness.ints(out);
            for (int i = 0; i < 32; i++) {
                int v = x[i];
                int w = x[(i + 1) % 32];
                long both = (w & 0xffffffffL) << 32 | v & 0xffffffffL;
                int[] expected = {
                    Integer.bitCount(v),
                    Integer.numberOfLeadingZeros(v),
                    v == 0 ? 0 : Integer.numberOfTrailingZeros(v) + 1,
                    Integer.reverse(v),
                    (int) ((v & 0xffffffffL) * (w & 0xffffffffL) >>> 32),
                    (int) ((long) v * w >> 32),
                    (w >>> 8 & 0xff) | (w & 0xff) << 8 | (v & 0xff) << 16 | (w >>> 24) << 24,
                    (int) (both << 5 >>> 32),
                    (int) (both >>> 5),
                    v & 0x7f7fffff,
                    Integer.bitCount(v) + Integer.bitCount(w),
                    (int) (float) v
                };
                assertThat(Arrays.copyOfRange(y, i * 12, i * 12 + 12))
                        .as("%x %x", v, w)
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void mathematics(boolean checked) {
        float[] x = new float[32];
        for (int i = 0; i < 32; i++) {
            x[i] = (i - 16) * 0.37f + 0.01f;
        }
        try (Harness harness = open(checked);
                DeviceBuffer in = harness.upload(x);
                DeviceBuffer out = harness.context.allocate(32 * 40)) {
            harness.run("mathematics", LaunchShape.of(1, 32), in, out);
            float[] y = harness.floats(out);
            for (int i = 0; i < 32; i++) {
                double v = x[i];
                close(y[i * 10], Math.exp(v));
                close(y[i * 10 + 1], Math.log(Math.abs(v)));
                close(y[i * 10 + 2], 1 / Math.sqrt(Math.abs(v)));
                close(y[i * 10 + 4], Math.tanh(v));
                assertThat(y[i * 10 + 5]).isEqualTo(Math.fma(x[i], x[i], -1f));
                assertThat(y[i * 10 + 6]).isEqualTo(Math.max(x[i], 0.5f) + Math.min(x[i], 0.25f));
                assertThat(y[i * 10 + 7]).isEqualTo(Math.clamp(x[i], 0f, 1f));
                close(y[i * 10 + 8], Math.pow(2, v));
                close(y[i * 10 + 9], Math.pow(Math.abs(v), 0.3f));
            }
            assertThat(y[3 + 10 * 16]).isCloseTo(0.0112834f, within(1e-6f)); // erf(0.01)
        }
    }

    private static void close(float actual, double expected) {
        assertThat((double) actual).isCloseTo(expected, within(1e-6 * Math.max(1e-3, Math.abs(expected)) + 1e-7));
    }
}
