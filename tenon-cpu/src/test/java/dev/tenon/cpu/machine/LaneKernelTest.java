package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The best few of each lane against a sorted lane, and what is refused. */
class LaneKernelTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int LANES = 2 * LaneKernel.LANES;
    private static final int GAP = 3;
    private static final float[] SPECIAL = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0.0f, Float.MIN_VALUE, -1, Float.MAX_VALUE
    };

    private final MemorySegment arguments = MachineCode.arguments();

    @BeforeEach
    void requireCode() {
        assumeTrue(LaneKernel.hasBest(), "no AVX-512 here");
    }

    /** The rows of a lane, best first, the lower row first of equals. NaN counts as the largest. */
    private static List<Integer> sorted(MemorySegment x, int lane, int rows, boolean largest) {
        Comparator<Integer> byValue = Comparator.comparing(row -> {
            float value = MachineCode.get(x, (long) row * (LANES + GAP) + lane);
            return Float.isNaN(value) ? Float.NaN : value + 0.0f; // a boxed -0 is less than 0
        });
        return IntStream.range(0, rows)
                .boxed()
                .sorted((largest ? byValue.reversed() : byValue).thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void agreesWithSortedLanes(boolean largest) {
        for (int count = 1; count <= LaneKernel.MOST_BEST; count++) {
            for (int rows : new int[] {count, count + 1, 8, 15, 16, 17, 63, 200}) {
                if (rows < count) {
                    continue;
                }
                Random random = new Random(rows * 31L + count);
                MemorySegment x = MachineCode.random((long) rows * (LANES + GAP), random);
                for (int i = 0; i < rows * 12; i++) {
                    MachineCode.set(x, random.nextInt(rows * (LANES + GAP)), SPECIAL[random.nextInt(SPECIAL.length)]);
                }
                MemorySegment found = MachineCode.poisoned(2L * LANES * count);
                Matrix all = new Matrix(x, 0, 4 * (LANES + GAP));
                LaneKernel.best(count, largest, rows, LANES, all, new Place(found, 0), arguments);
                for (int lane = 0; lane < LANES; lane++) {
                    List<Integer> wanted = sorted(x, lane, rows, largest).subList(0, count);
                    for (int place = 0; place < count; place++) {
                        assertThat(found.get(INT, 4L * (LANES * (count + place) + lane)))
                                .as("lane %d of %d rows, place %d of %d", lane, rows, place, count)
                                .isEqualTo(wanted.get(place));
                    }
                }
            }
        }
    }

    @Test
    void noLanesGiveNothing() {
        MemorySegment found = MachineCode.poisoned(4);
        LaneKernel.best(2, true, 3, 0, new Matrix(MachineCode.poisoned(9), 0, 12), new Place(found, 0), arguments);
        assertThat(MachineCode.get(found, 0)).isEqualTo(MachineCode.POISON);
    }

    @Test
    void refusesWhatDoesNotFit() {
        Matrix x = new Matrix(MachineCode.poisoned(3 * LANES), 0, 4 * LANES);
        Place found = new Place(MachineCode.poisoned(2L * LANES * 9), 0);
        for (int count : new int[] {0, LaneKernel.MOST_BEST + 1}) {
            assertThatThrownBy(() -> LaneKernel.best(count, true, 3, LANES, x, found, arguments))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("best " + count);
        }
        assertThatThrownBy(() -> LaneKernel.best(2, true, 3, LANES - 1, x, found, arguments))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LaneKernel.best(2, true, 4, LANES, x, found, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Place few = new Place(MachineCode.poisoned(4L * LANES - 1), 0);
        assertThatThrownBy(() -> LaneKernel.best(2, true, 3, LANES, x, few, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }
}
