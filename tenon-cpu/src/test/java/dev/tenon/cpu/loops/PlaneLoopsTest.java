package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.core.testkit.Seeded;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The vector loops over planes do what the plain ones do, and touch nothing but the slack beyond. */
@EnabledIf("dev.tenon.cpu.loops.Vectors#available")
class PlaneLoopsTest {
    private static final int[] TAPS = {0, 4, 12, 68, 72, 256};
    private static final int RESULTS = 4096;
    private static final int BYTES = 8192;

    private final MemorySegment plain = Arena.ofAuto().allocate(BYTES, 64);
    private final MemorySegment vector = Arena.ofAuto().allocate(BYTES, 64);
    private final MemorySegment weights = Arena.ofAuto().allocate(4L * TAPS.length, 64);
    private final WindowLoops loops = new WindowLoops();

    private void fill(Seeded random) {
        for (int i = 0; i < BYTES; i += 4) {
            float value = (float) (random.nextDouble() - 0.5);
            plain.set(Raw.F32, i, i % 172 == 0 ? Float.NaN : value);
        }
        for (int i = 0; i < TAPS.length; i++) {
            weights.set(Raw.F32, 4L * i, (float) (random.nextDouble() - 0.5));
        }
        vector.copyFrom(plain);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 16, 63, 64, 65, 200, 300})
    void sums(int n) {
        fill(new Seeded(n));
        loops.correlate(plain, TAPS, weights, 0, 0.5f, RESULTS, n);
        VectorWindowLoops.planeSums(vector, TAPS, weights, 0, 0.5f, RESULTS, n);
        compare(n);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 16, 63, 64, 65, 200, 300})
    void maxima(int n) {
        fill(new Seeded(n));
        loops.maximum(plain, TAPS, RESULTS, n);
        VectorWindowLoops.planeMaxima(vector, TAPS, RESULTS, n);
        compare(n);
    }

    private void compare(int n) {
        for (int i = 0; i < BYTES; i += 4) {
            float expected = plain.get(Raw.F32, i);
            if (i < RESULTS || i >= RESULTS + 4 * (n + WindowLoops.SLACK)) {
                assertThat(vector.get(Raw.I32, i)).as("byte %d", i).isEqualTo(plain.get(Raw.I32, i));
            } else if (i < RESULTS + 4 * n && Float.isNaN(expected)) {
                assertThat(vector.get(Raw.F32, i)).as("byte %d", i).isNaN();
            } else if (i < RESULTS + 4 * n) {
                assertThat(vector.get(Raw.F32, i)).as("byte %d", i).isEqualTo(expected, within(1e-6f));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 15, 16, 17, 40})
    void rows(int length) {
        fill(new Seeded(length));
        int rows = 9;
        VectorMoves.rows(vector, 0, 180, vector, RESULTS, 4L * length, rows);
        for (int i = 0; i < rows * length; i++) {
            long from = 180L * (i / length) + 4L * (i % length);
            assertThat(vector.get(Raw.I32, RESULTS + 4L * i)).isEqualTo(plain.get(Raw.I32, from));
        }
        long end = RESULTS + 4L * (rows * length + WindowLoops.SLACK);
        assertThat(vector.asSlice(end).mismatch(plain.asSlice(end))).isEqualTo(-1);
        assertThat(vector.asSlice(0, RESULTS).mismatch(plain.asSlice(0, RESULTS)))
                .isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16, 17, 33, 64, 100})
    void everySecond(int n) {
        fill(new Seeded(n));
        int done = VectorWindowLoops.everySecond(vector, 4, vector, RESULTS, n);
        loops.everyOther(vector, 4 + 8L * done, 2, vector, RESULTS + 4L * done, n - done);
        for (int i = 0; i < n; i++) {
            assertThat(vector.get(Raw.I32, RESULTS + 4L * i)).isEqualTo(plain.get(Raw.I32, 4 + 8L * i));
        }
        long end = RESULTS + 4L * n;
        assertThat(vector.asSlice(end).mismatch(plain.asSlice(end))).isEqualTo(-1);
    }
}
