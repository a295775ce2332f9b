package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tenon.cpu.machine.WinogradKernel.Groups;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Rows of every length up to some vectors, in groups, beside sums in double. */
class WinogradKernelTest {
    private static final double[][] SIX = {
        {4, 0, -5, 0, 1, 0},
        {0, -4, -4, 1, 1, 0},
        {0, 4, -4, -1, 1, 0},
        {0, -2, -1, 2, 1, 0},
        {0, 2, -1, -2, 1, 0},
        {0, 4, 0, -5, 0, 1},
    };
    private static final double[][] FOUR = {
        {1, 1, 1, 1, 1, 0},
        {0, 1, -1, 2, -2, 0},
        {0, 1, 1, 4, 4, 0},
        {0, 1, -1, 8, -8, 1},
    };
    private static final double ROUNDING = 1e-5;
    private static final int GAP = 3;

    private final MemorySegment arguments = MachineCode.arguments();
    private final Random random = new Random(5);

    @BeforeAll
    static void requireMachineCode() {
        MachineCode.widths();
    }

    private static List<Integer> lengths(int lanes) {
        return IntStream.rangeClosed(lanes, 4 * lanes + 1).boxed().toList();
    }

    private void check(double[][] matrix, int rows, int n, int groups, boolean biased, WinogradKernel kernel) {
        int step = n + GAP;
        int xGroup = 6 * step + 1;
        int yGroup = rows * step + 2;
        MemorySegment x = MachineCode.random((long) groups * xGroup, random);
        MemorySegment bias = MachineCode.random(n, random);
        MemorySegment y = MachineCode.poisoned((long) groups * yGroup);
        Matrix from = new Matrix(x, 0, 4L * step);
        Matrix to = new Matrix(y, 0, 4L * step);
        Groups all = new Groups(groups, 4L * xGroup, 4L * yGroup);
        if (matrix.length == 6) {
            kernel.six(from, to, n, all, arguments);
        } else {
            kernel.four(from, to, rows, biased ? new Place(bias, 0) : Place.NONE, n, all, arguments);
        }
        for (int i = 0; i < groups * yGroup; i++) {
            int row = i % yGroup / step;
            int column = i % yGroup % step;
            String at = n + " floats, element " + i;
            if (row >= rows || column >= n) {
                assertThat(MachineCode.get(y, i)).as(at).isEqualTo(MachineCode.POISON);
                continue;
            }
            double sum = biased ? MachineCode.get(bias, column) : 0;
            for (int point = 0; point < 6; point++) {
                long place = (long) i / yGroup * xGroup + point * step + column;
                sum += matrix[row][point] * MachineCode.get(x, place);
            }
            assertThat((double) MachineCode.get(y, i)).as(at).isCloseTo(sum, within(ROUNDING * 40));
        }
    }

    @Test
    void sixRowsBecomeSix() {
        for (int lanes : MachineCode.widths()) {
            WinogradKernel kernel = WinogradKernel.make(lanes);
            for (int n : lengths(lanes)) {
                check(SIX, 6, n, 1 + n % 3, false, kernel);
            }
        }
    }

    @Test
    void sixRowsBecomeFourAtMostPlusABias() {
        for (int lanes : MachineCode.widths()) {
            WinogradKernel kernel = WinogradKernel.make(lanes);
            for (int n : lengths(lanes)) {
                for (int rows = 1; rows <= 4; rows++) {
                    check(FOUR, rows, n, 1 + n % 3, n % 2 == 0, kernel);
                }
            }
        }
    }

    @Test
    void valuesThatAreNotFiniteStayInTheirColumn() {
        for (int lanes : MachineCode.widths()) {
            int n = 2 * lanes + 1;
            MemorySegment x = MachineCode.random(6L * n, random);
            MachineCode.set(x, 2L * n + 3, Float.NaN);
            MachineCode.set(x, 4L * n + 5, Float.POSITIVE_INFINITY);
            MemorySegment y = MachineCode.poisoned(6L * n);
            Matrix from = new Matrix(x, 0, 4L * n);
            WinogradKernel.make(lanes).six(from, new Matrix(y, 0, 4L * n), n, Groups.ONE, arguments);
            for (int i = 0; i < n; i++) {
                assertThat(Float.isFinite(MachineCode.get(y, i))).isEqualTo(i != 3 && i != 5);
            }
        }
    }

    @Test
    void noGroupsAreNoWork() {
        Matrix none = new Matrix(MachineCode.poisoned(1), 0, 0);
        WinogradKernel kernel = WinogradKernel.make(8);
        kernel.six(none, none, 8, new Groups(0, 0, 0), arguments);
        kernel.four(none, none, 4, Place.NONE, 8, new Groups(0, 0, 0), arguments);
        assertThat(MachineCode.get(none.memory(), 0)).isEqualTo(MachineCode.POISON);
    }

    @Test
    void refusesWhatDoesNotFit() {
        WinogradKernel kernel = WinogradKernel.make(8);
        Matrix six = new Matrix(MachineCode.poisoned(48).asSlice(0, 192), 0, 32);
        Matrix five = new Matrix(six.memory().asSlice(0, 188), 0, 32);
        assertThatThrownBy(() -> kernel.six(five, six, 8, Groups.ONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.six(six, five, 8, Groups.ONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.six(six, six, 8, new Groups(2, 4, 0), arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.six(six, six, 8, new Groups(2, 0, -4), arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.six(six, six, 8, new Groups(Integer.MAX_VALUE, Long.MAX_VALUE, 0), arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.six(six, six, 7, Groups.ONE, arguments))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> kernel.four(six, six, 5, Place.NONE, 8, Groups.ONE, arguments))
                .isInstanceOf(IllegalArgumentException.class);
        Place brief = new Place(six.memory(), 164);
        assertThatThrownBy(() -> kernel.four(six, six, 4, brief, 8, Groups.ONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix fixed = new Matrix(six.memory().asReadOnly(), 0, 32);
        assertThatThrownBy(() -> kernel.six(six, fixed, 8, Groups.ONE, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
