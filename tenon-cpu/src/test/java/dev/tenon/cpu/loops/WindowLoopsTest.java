package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Vector loops against the plain ones, at every length around whole vectors and at odd offsets. */
class WindowLoopsTest {
    private static final int LONGEST = 67;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment x = random(1, 4 * LONGEST + 64);
    private final MemorySegment w = random(2, 64);

    @BeforeAll
    static void vectors() {
        assumeThat(Vectors.available()).isTrue();
        MoveLoops.all().forEach(HotLoop::adopt);
    }

    private MemorySegment random(long seed, int count) {
        Seeded random = new Seeded(seed);
        MemorySegment segment = arena.allocate(4L * count, 64);
        for (int i = 0; i < count; i++) {
            segment.set(Raw.F32, 4L * i, (float) (random.nextDouble() * 4 - 2));
        }
        return segment;
    }

    private interface Loop {
        void run(boolean vector, MemorySegment y);
    }

    private void compare(int n, double tolerance, Loop loop) {
        MemorySegment expected = random(3, LONGEST + 8);
        MemorySegment actual = random(3, LONGEST + 8);
        loop.run(false, expected);
        loop.run(true, actual);
        for (int i = 0; i < LONGEST + 8; i++) {
            assertThat(actual.get(Raw.F32, 4L * i))
                    .as("element %d of %d", i, n)
                    .isEqualTo(expected.get(Raw.F32, 4L * i), within((float) tolerance));
        }
    }

    @Test
    void windows() {
        WindowLoops scalar = new WindowLoops();
        WindowLoops vector = new VectorWindowLoops();
        for (int n = 0; n <= LONGEST; n++) {
            int length = n;
            for (int stride = 1; stride <= 3; stride++) {
                Taps taps = new Taps(x, 4, 2, 36, 3, 2, stride);
                Matrix weights = new Matrix(w, 4, 12);
                compare(n, 1e-5, (fast, y) -> (fast ? vector : scalar).correlate(taps, weights, y, 4, length));
                compare(n, 0, (fast, y) -> (fast ? vector : scalar).maximum(taps, y, 4, length));
            }
            compare(n, 1e-6, (fast, y) -> (fast ? vector : scalar).multiplyAdd(x, 12, 0.7f, y, 4, length));
        }
    }

    @Test
    void quantisation() {
        QuantLoops scalar = new QuantLoops();
        QuantLoops vector = new VectorQuantLoops();
        for (int n = 0; n <= LONGEST; n++) {
            int length = n;
            for (float least : List.of(0f, -128f)) {
                ByteScale scale = new ByteScale(0.01f, 3, least, least + 255);
                compare(n, 0, (fast, y) -> (fast ? vector : scalar).quantize(x, 4, scale, y, 3, length));
                compare(
                        n,
                        0,
                        (fast, y) -> (fast ? vector : scalar).dequantize(x, 5, least < 0, 0.01f, 3, y, 4, length));
            }
            compare(n, 0, (fast, y) -> (fast ? vector : scalar).range(x, 4, length, y, 0));
        }
    }

    @Test
    void copies() {
        for (int bytes = 0; bytes < 260; bytes++) {
            for (int shift = 0; shift < 4; shift++) {
                MemorySegment y = arena.allocate(300, 64);
                Raw.copy(x, shift, y, 7, bytes);
                assertThat(y.asSlice(7, bytes).mismatch(x.asSlice(shift, bytes)))
                        .isEqualTo(-1);
                assertThat(y.asSlice(0, 7).mismatch(arena.allocate(7))).isEqualTo(-1);
                assertThat(y.asSlice(7 + bytes, 20).mismatch(arena.allocate(20)))
                        .isEqualTo(-1);
            }
        }
    }
}
