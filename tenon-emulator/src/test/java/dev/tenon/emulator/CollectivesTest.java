package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.LaunchShape;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every collective against a scalar model, with full masks and with two to four groups of lanes at once. */
class CollectivesTest {
    private static final int THREADS = 96;
    private static Harness harness;

    @BeforeAll
    static void open() {
        Harness.require();
        harness = new Harness("collectives.cu", Harness.options(true));
    }

    @AfterAll
    static void close() {
        if (harness != null) {
            harness.close();
        }
    }

    /** A mask for each thread; lanes of equal group share one. */
    private static int[] masks(Random random, int groups) {
        int[] group = random.ints(THREADS, 0, groups).toArray();
        int[] masks = new int[THREADS];
        for (int i = 0; i < THREADS; i++) {
            for (int j = i & -32; j < (i & -32) + 32; j++) {
                masks[i] |= group[i] == group[j] ? 1 << (j & 31) : 0;
            }
        }
        return masks;
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 16, 8, 4, 2, 1})
    void shuffles(int width) {
        Random random = new Random(width);
        int[] masks = new int[THREADS];
        Arrays.fill(masks, -1);
        int[] selectors = random.ints(35, 0, 32).toArray();
        float[] in = new float[THREADS];
        for (int i = 0; i < THREADS; i++) {
            in[i] = random.nextFloat();
        }
        float[] out = run("shuffles", masks, selectors, in, width);
        for (int i = 0; i < THREADS; i++) {
            int base = i & -32;
            int lane = i & 31;
            int low = lane & -width;
            int high = low + width - 1;
            int by = selectors[lane] % width;
            assertThat(out[i * 4]).isEqualTo(in[base + low + by]);
            int up = lane - selectors[32];
            assertThat(out[i * 4 + 1]).isEqualTo(in[base + (up >= low ? up : lane)]);
            int down = lane + selectors[33];
            assertThat(out[i * 4 + 2]).isEqualTo(in[base + (down <= high ? down : lane)]);
            int across = lane ^ selectors[34];
            assertThat(out[i * 4 + 3]).isEqualTo(in[base + (across <= high ? across : lane)]);
        }
    }

    @Test
    void shufflesWithinHalfMasks() {
        int[] masks = new int[THREADS];
        int[] selectors = new int[35];
        float[] in = new float[THREADS];
        for (int i = 0; i < THREADS; i++) {
            masks[i] = i % 2 == 0 ? 0x55555555 : 0xaaaaaaaa;
            in[i] = i;
        }
        for (int lane = 0; lane < 32; lane++) {
            selectors[lane] = (lane + 6) & 31;
        }
        selectors[32] = 2;
        selectors[33] = 4;
        selectors[34] = 8;
        float[] out = run("shuffles", masks, selectors, in, 32);
        for (int i = 0; i < THREADS; i++) {
            int base = i & -32;
            int lane = i & 31;
            assertThat(out[i * 4]).isEqualTo(base + ((lane + 6) & 31));
            assertThat(out[i * 4 + 1]).isEqualTo(lane >= 2 ? i - 2 : i);
            assertThat(out[i * 4 + 2]).isEqualTo(lane + 4 < 32 ? i + 4 : i);
            assertThat(out[i * 4 + 3]).isEqualTo(i ^ 8);
        }
    }

    private static float[] run(String kernel, int[] masks, int[] selectors, float[] in, int width) {
        try (DeviceBuffer m = harness.upload(masks);
                DeviceBuffer s = harness.upload(selectors);
                DeviceBuffer x = harness.upload(in);
                DeviceBuffer y = harness.context.allocate(in.length * 16L)) {
            harness.run(kernel, LaunchShape.of(1, THREADS), m, s, x, y, width);
            return harness.floats(y);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void votesAndReductions(int groups) {
        Random random = new Random(groups);
        int[] masks = masks(random, groups);
        int[] in = random.ints(THREADS).map(v -> v & ~8).toArray();
        int[] out;
        try (DeviceBuffer m = harness.upload(masks);
                DeviceBuffer x = harness.upload(in);
                DeviceBuffer y = harness.context.allocate(THREADS * 13 * 4L)) {
            harness.run("votes", LaunchShape.of(1, THREADS), m, x, y);
            out = harness.ints(y);
        }
        for (int i = 0; i < THREADS; i++) {
            int mask = masks[i];
            int first = i & -32;
            int mine = in[i];
            int ballot = where(mask, first, in, v -> (v & 1) != 0);
            int[] expected = {
                ballot,
                where(mask, first, in, v -> (v & 2) != 0) != 0 ? 1 : 0,
                where(mask, first, in, v -> (v & 4) != 0) == mask ? 1 : 0,
                where(mask, first, in, v -> (v & 7) == (mine & 7)),
                mask,
                1,
                fold(mask, first, in, Integer::sum),
                fold(mask, first, in, Math::min),
                fold(mask, first, in, Math::max),
                fold(mask, first, in, (a, b) -> Integer.compareUnsigned(a, b) < 0 ? a : b),
                fold(mask, first, in, (a, b) -> a & b),
                fold(mask, first, in, (a, b) -> a | b),
                fold(mask, first, in, (a, b) -> a ^ b)
            };
            assertThat(Arrays.copyOfRange(out, i * 13, i * 13 + 13))
                    .as("thread " + i)
                    .isEqualTo(expected);
        }
    }

    private static int where(int mask, int first, int[] in, java.util.function.IntPredicate test) {
        int lanes = 0;
        for (int lane = 0; lane < 32; lane++) {
            lanes |= (mask >>> lane & 1) != 0 && test.test(in[first + lane]) ? 1 << lane : 0;
        }
        return lanes;
    }

    private static int fold(int mask, int first, int[] in, IntBinaryOperator by) {
        int lane = Integer.numberOfTrailingZeros(mask);
        int sum = in[first + lane];
        for (lane++; lane < 32; lane++) {
            sum = (mask >>> lane & 1) != 0 ? by.applyAsInt(sum, in[first + lane]) : sum;
        }
        return sum;
    }

    @Test
    void allTypesPassWhole() {
        double[] d = new Random(5).doubles(32).toArray();
        long[] l = new Random(6).longs(32).toArray();
        short[] h = new short[32];
        byte[] b = new byte[32];
        for (int i = 0; i < 32; i++) {
            h[i] = (short) (i * 1999);
            b[i] = (byte) (i * 7);
        }
        try (DeviceBuffer db = harness.upload(java.lang.foreign.MemorySegment.ofArray(d));
                DeviceBuffer lb = harness.upload(java.lang.foreign.MemorySegment.ofArray(l));
                DeviceBuffer hb = harness.upload(h);
                DeviceBuffer bb = harness.upload(java.lang.foreign.MemorySegment.ofArray(b))) {
            harness.run("types", LaunchShape.of(1, 32), db, lb, hb, bb);
            double[] d2 = new double[32];
            long[] l2 = new long[32];
            byte[] b2 = new byte[32];
            harness.stream.copyToHost(db, 0, java.lang.foreign.MemorySegment.ofArray(d2));
            harness.stream.copyToHost(lb, 0, java.lang.foreign.MemorySegment.ofArray(l2));
            harness.stream.copyToHost(bb, 0, java.lang.foreign.MemorySegment.ofArray(b2));
            short[] h2 = harness.shorts(hb);
            for (int i = 0; i < 32; i++) {
                assertThat(d2[i]).isEqualTo(d[i ^ 1]);
                assertThat(l2[i]).isEqualTo(l[i ^ 2]);
                assertThat(h2[i]).isEqualTo(h[i ^ 4]);
                assertThat(b2[i]).isEqualTo(b[i ^ 8]);
            }
        }
    }

    @Test
    void activeMasksFollowBranches() {
        try (DeviceBuffer y = harness.context.allocate(64 * 8)) {
            harness.run("active", LaunchShape.of(1, 48), y);
            int[] out = harness.ints(y);
            for (int i = 0; i < 48; i++) {
                int all = i < 32 ? -1 : 0xffff;
                int thirds = 0;
                for (int lane = 0; lane < 32; lane++) {
                    thirds |= ((i & -32) + lane) % 3 == 0 ? 1 << lane : 0;
                }
                assertThat(out[i * 2]).isEqualTo(all);
                assertThat(out[i * 2 + 1]).isEqualTo(i % 3 == 0 ? thirds & all : ~thirds & all);
            }
        }
    }

    @Test
    void barriersThatVote() {
        int[] in = new Random(9).ints(THREADS, 0, 1000).toArray();
        try (DeviceBuffer x = harness.upload(in);
                DeviceBuffer y = harness.context.allocate(THREADS * 12L)) {
            harness.run("block_votes", LaunchShape.of(1, THREADS), x, y);
            int odd = (int) Arrays.stream(in).filter(v -> (v & 1) != 0).count();
            int[] out = harness.ints(y);
            for (int i = 0; i < THREADS; i++) {
                assertThat(Arrays.copyOfRange(out, i * 3, i * 3 + 3)).containsExactly(0, 1, odd);
            }
        }
    }
}
