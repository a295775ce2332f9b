package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cpu.machine.MachineRows.Arguments;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of every length up to some vectors, with what floats have beside numbers, against float64. */
class MachineRowsTest {
    private static final int MOST = 70;
    private static final float[] SPECIAL = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, 0, -0f, 1e30f, -1e30f, Float.MIN_VALUE
    };

    private final Arguments arguments = new Arguments(MachineCode.arguments());
    private final Random random = new Random(5);

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    private MemorySegment row(int n, boolean special) {
        MemorySegment x = MachineCode.random(n, random);
        for (int i = 0; i < n; i++) {
            MachineCode.set(x, i, 4 * MachineCode.get(x, i));
            if (special && random.nextInt(8) == 0) {
                MachineCode.set(x, i, SPECIAL[random.nextInt(SPECIAL.length)]);
            }
        }
        return x;
    }

    private static void assertNothingBehind(MemorySegment y, int n) {
        assertThat(MachineCode.get(y, n)).as("behind the row").isEqualTo(MachineCode.POISON);
    }

    private static void assertNear(float found, double wanted, double relative) {
        if (Double.isNaN(wanted)) {
            assertThat(found).isNaN();
        } else if (Math.abs(wanted) > Float.MAX_VALUE) {
            assertThat(found).isEqualTo((float) wanted);
        } else {
            assertThat((double) found).isCloseTo(wanted, Offset.offset(relative * Math.abs(wanted) + 3e-7));
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void gelu(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        for (int n = 0; n <= MOST; n++) {
            MemorySegment x = row(n, true);
            MemorySegment y = MachineCode.poisoned(n + 1L);
            kernels.gelu(new Place(x, 0), new Place(y, 0), n, arguments);
            for (int i = 0; i < n; i++) {
                float value = MachineCode.get(x, i);
                double wanted = value == Float.NEGATIVE_INFINITY ? 0 : UnaryFn.GELU.apply(value, 0, 0);
                assertNear(MachineCode.get(y, i), wanted, 1e-6);
            }
            assertNothingBehind(y, n);
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void exponentials(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        for (int n = 0; n <= MOST; n++) {
            MemorySegment x = row(n, n % 2 == 1);
            MemorySegment y = MachineCode.poisoned(n + 1L);
            double sum = kernels.expSum(new Place(x, 0), 2.5f, new Place(y, 0), n, false, arguments);
            double wanted = 0;
            for (int i = 0; i < n; i++) {
                float difference = MachineCode.get(x, i) - 2.5f;
                double e = difference < -86.6f ? 0 : Math.exp(difference);
                assertNear(MachineCode.get(y, i), e, 1e-6);
                wanted += MachineCode.get(y, i);
            }
            assertNear((float) sum, wanted, 1e-5);
            assertNothingBehind(y, n);
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void moments(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        MemorySegment to = MachineCode.poisoned(4);
        for (int n = 0; n <= MOST; n++) {
            MemorySegment x = row(n, false);
            kernels.moments(new Place(x, 0), n, 0.5f, to, 0, arguments);
            double sum = 0;
            double squares = 0;
            for (int i = 0; i < n; i++) {
                double difference = MachineCode.get(x, i) - 0.5;
                sum += difference;
                squares += difference * difference;
            }
            assertThat(to.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 0)).isCloseTo(sum, Offset.offset(1e-4));
            assertThat(to.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8)).isCloseTo(squares, Offset.offset(2e-3));
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void normalise(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        for (int n = 0; n <= MOST; n++) {
            for (int parameters = 0; parameters <= 2; parameters++) {
                MemorySegment x = row(n, false);
                MemorySegment scale = row(n, false);
                MemorySegment bias = row(n, false);
                MemorySegment y = MachineCode.poisoned(n + 1L);
                Place times = parameters > 0 ? new Place(scale, 0) : Place.NONE;
                Place plus = parameters > 1 ? new Place(bias, 0) : Place.NONE;
                NormFactors affine = new NormFactors(0.1f, 1.3f, 0.2f);
                kernels.normalise(new Place(x, 0), new Place(y, 0), n, affine, times, plus, false, arguments);
                for (int i = 0; i < n; i++) {
                    double wanted = (MachineCode.get(x, i) - (double) 0.1f) * 1.3f + 0.2f;
                    wanted *= parameters > 0 ? MachineCode.get(scale, i) : 1;
                    wanted += parameters > 1 ? MachineCode.get(bias, i) : 0;
                    assertThat((double) MachineCode.get(y, i)).isCloseTo(wanted, Offset.offset(2e-5));
                }
                assertNothingBehind(y, n);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void extremes(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        for (int n = 0; n <= MOST; n++) {
            for (int round = 0; round < 4; round++) {
                MemorySegment x = row(n, round > 0);
                float most = Float.NEGATIVE_INFINITY;
                float least = Float.POSITIVE_INFINITY;
                for (int i = 0; i < n; i++) {
                    if (round > 1 && Float.isNaN(MachineCode.get(x, i))) {
                        MachineCode.set(x, i, round == 2 ? 0 : Float.intBitsToFloat(0xFFC0_0000)); // NaN of both signs
                    }
                    most = Math.max(most, MachineCode.get(x, i));
                    least = Math.min(least, MachineCode.get(x, i));
                }
                assertThat(kernels.largest(new Place(x, 0), n, arguments)).isEqualTo(Float.valueOf(most));
                assertThat(kernels.smallest(new Place(x, 0), n, arguments)).isEqualTo(Float.valueOf(least));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void resultsPastTheCachesAreTheSame(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        NormFactors affine = new NormFactors(0.1f, 1.3f, 0.2f);
        for (int n = 1; n <= MOST; n++) {
            Place x = new Place(row(n, true), 0);
            for (int offset : new int[] {0, 4}) { // aligned, and not
                MemorySegment[] y = new MemorySegment[4];
                for (int i = 0; i < 4; i++) {
                    y[i] = Arena.ofAuto().allocate(4L * n + 8, 64);
                    Place to = new Place(y[i], offset);
                    if (i < 2) {
                        kernels.normalise(x, to, n, affine, x, x, i == 1, arguments);
                    } else {
                        kernels.expSum(x, 1, to, n, i == 3, arguments);
                    }
                }
                assertThat(y[0].mismatch(y[1])).isEqualTo(-1);
                assertThat(y[2].mismatch(y[3])).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        MachineRows kernels = MachineRows.make(lanes);
        Place four = new Place(MachineCode.poisoned(4), 0);
        Place three = new Place(MachineCode.poisoned(3), 0);
        assertThatThrownBy(() -> kernels.gelu(four, three, 4, arguments)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernels.gelu(three, four, 4, arguments)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() ->
                        kernels.normalise(four, four, 4, new NormFactors(0, 1, 0), three, Place.NONE, false, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernels.gelu(four, Place.NONE, 4, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernels.expSum(four, 0, Place.NONE, 4, false, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Place heap = new Place(MemorySegment.ofArray(new float[4]), 0);
        assertThatThrownBy(() -> kernels.gelu(heap, four, 4, arguments)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> kernels.gelu(four, heap, 4, arguments)).isInstanceOf(IllegalArgumentException.class);
        Place fixed = new Place(four.memory().asReadOnly(), 0);
        assertThatThrownBy(() -> kernels.gelu(four, fixed, 4, arguments)).isInstanceOf(IllegalArgumentException.class);
    }
}
