package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Products at random sizes, strides and starts, against float64; nothing beside the result is written. */
class ProductKernelTest {
    private static final int CASES = 3000;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private enum Start {
        ZERO,
        BIAS,
        RESULT
    }

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    @ParameterizedTest
    @MethodSource("widths")
    void everySizeAndStart(int lanes) {
        ProductKernel kernel = ProductKernel.make(lanes);
        Random random = new Random(lanes);
        for (int i = 0; i < CASES; i++) {
            int k = i % 50 == 0 ? random.nextInt(600) : random.nextInt(30);
            Start start = Start.values()[random.nextInt(3)];
            multiply(kernel, random.nextInt(40) + 1, random.nextInt(100) + 1, k, start, random);
        }
    }

    private static void multiply(ProductKernel kernel, int m, int n, int k, Start start, Random random) {
        int columns = kernel.columns();
        int lda = k + random.nextInt(4);
        int ldc = n + random.nextInt(4);
        MemorySegment a = MachineCode.random((m - 1L) * lda + k, random);
        MemorySegment b = panels(k, n, columns, random);
        MemorySegment bias = MachineCode.random(n, random);
        MemorySegment c = MachineCode.poisoned((long) m * ldc + 1);
        double[][] expected = new double[m][n];
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                if (start == Start.RESULT) {
                    MachineCode.set(c, (long) i * ldc + j, random.nextFloat());
                }
                double sum = switch (start) {
                    case ZERO -> 0;
                    case BIAS -> MachineCode.get(bias, j);
                    case RESULT -> MachineCode.get(c, (long) i * ldc + j);
                };
                for (int at = 0; at < k; at++) {
                    long panel = (long) (j / columns) * k * columns;
                    sum += (double) MachineCode.get(a, (long) i * lda + at)
                            * MachineCode.get(b, panel + (long) at * columns + j % columns);
                }
                expected[i][j] = sum;
            }
        }
        Matrix result = new Matrix(c, 0, 4L * ldc);
        Matrix begin = switch (start) {
            case ZERO -> Matrix.NONE;
            case BIAS -> new Matrix(bias, 0, 0);
            case RESULT -> result;
        };
        Matrix rows = new Matrix(a, 0, 4L * lda);
        kernel.run(m, n, k, rows, new Matrix(b, 0, 4L * k * columns), result, begin, MachineCode.arguments());
        String sizes = m + "x" + n + "x" + k + " " + start;
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < ldc; j++) {
                float found = MachineCode.get(c, (long) i * ldc + j);
                if (j < n) {
                    assertThat((double) found).as(sizes).isCloseTo(expected[i][j], offset(k));
                } else {
                    assertThat(found).as(sizes + ", beside the result").isEqualTo(MachineCode.POISON);
                }
            }
        }
        assertThat(MachineCode.get(c, (long) m * ldc)).isEqualTo(MachineCode.POISON);
    }

    /** The largest of their kinds among them, and sums past 32 bits. */
    @Test
    void bytesAreExact() {
        assumeTrue(Processor.HERE.bytes(), "no sums of products of bytes here");
        ProductKernel kernel = ProductKernel.makeBytes();
        int columns = kernel.columns();
        Random random = new Random(3);
        for (int turn = 0; turn < 500; turn++) {
            int m = random.nextInt(30) + 1;
            int n = random.nextInt(100) + 1;
            int groups = turn % 50 == 0 ? random.nextInt(300) : random.nextInt(12);
            boolean largest = turn % 3 == 0;
            byte[] a = new byte[m * groups * 4];
            random.nextBytes(a);
            byte[] b = new byte[Math.ceilDiv(n, columns) * columns * groups * 4];
            random.nextBytes(b);
            if (largest) {
                Arrays.fill(a, (byte) 255);
                Arrays.fill(b, (byte) -128);
            }
            MemorySegment start = MachineCode.poisoned(n);
            MemorySegment c = MachineCode.poisoned((long) m * n + 1);
            for (int j = 0; j < n; j++) {
                start.setAtIndex(INT, j, largest ? Integer.MIN_VALUE + j : random.nextInt());
            }
            kernel.run(
                    m,
                    n,
                    groups,
                    new Matrix(copy(a), 0, 4L * groups),
                    new Matrix(copy(b), 0, 4L * groups * columns),
                    new Matrix(c, 0, 4L * n),
                    new Matrix(start, 0, 0),
                    MachineCode.arguments());
            for (int i = 0; i < m; i++) {
                for (int j = 0; j < n; j++) {
                    int sum = start.getAtIndex(INT, j);
                    for (int k = 0; k < 4 * groups; k++) {
                        int at = (j / columns * groups + k / 4) * columns * 4 + j % columns * 4 + k % 4;
                        sum += (a[i * groups * 4 + k] & 0xFF) * b[at];
                    }
                    assertThat(c.getAtIndex(INT, (long) i * n + j))
                            .as("%sx%sx%s at %s, %s", m, n, 4 * groups, i, j)
                            .isEqualTo(sum);
                }
            }
            assertThat(MachineCode.get(c, (long) m * n)).isEqualTo(MachineCode.POISON);
        }
    }

    private static MemorySegment copy(byte[] bytes) {
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(1, bytes.length), 1);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return memory;
    }

    private static org.assertj.core.data.Offset<Double> offset(int k) {
        return org.assertj.core.data.Offset.offset(1e-6 * (10 + k));
    }

    /** Random columns; zeros past the last. */
    private static MemorySegment panels(int k, int n, int columns, Random random) {
        int count = Math.ceilDiv(n, columns);
        MemorySegment b = Arena.ofAuto().allocate(Math.max(4, 4L * count * k * columns), 4);
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < n; j++) {
                long at = (long) (j / columns) * k * columns + (long) i * columns + j % columns;
                MachineCode.set(b, at, (float) random.nextGaussian());
            }
        }
        return b;
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesWhatDoesNotFit(int lanes) {
        ProductKernel kernel = ProductKernel.make(lanes);
        MemorySegment arguments = MachineCode.arguments();
        int columns = kernel.columns();
        Matrix a = new Matrix(MachineCode.poisoned(6), 0, 12);
        Matrix b = new Matrix(MachineCode.poisoned(3L * columns), 0, 12L * columns);
        Matrix c = new Matrix(MachineCode.poisoned(8), 0, 16);
        kernel.run(2, 4, 3, a, b, c, Matrix.NONE, arguments);
        assertThatThrownBy(() -> kernel.run(3, 4, 3, a, b, c, Matrix.NONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("3 rows of 12 bytes");
        assertThatThrownBy(() -> kernel.run(2, 5, 3, a, b, c, Matrix.NONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(2, 4, 4, a, b, c, Matrix.NONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix before = new Matrix(c.memory(), -4, 16);
        assertThatThrownBy(() -> kernel.run(2, 4, 3, a, b, before, Matrix.NONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix far = new Matrix(c.memory(), Long.MAX_VALUE, 16);
        assertThatThrownBy(() -> kernel.run(2, 4, 3, a, b, far, Matrix.NONE, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        Matrix fixed = new Matrix(c.memory().asReadOnly(), 0, 16);
        assertThatThrownBy(() -> kernel.run(2, 4, 3, a, b, fixed, Matrix.NONE, arguments))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
        Matrix heap = new Matrix(MemorySegment.ofArray(new float[8]), 0, 16);
        assertThatThrownBy(() -> kernel.run(2, 4, 3, a, b, heap, Matrix.NONE, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @MethodSource("widths")
    void refusesClosedMemory(int lanes) {
        ProductKernel kernel = ProductKernel.make(lanes);
        MemorySegment closed;
        try (Arena arena = Arena.ofShared()) {
            closed = arena.allocate(64, 64);
        }
        Matrix b = new Matrix(MachineCode.poisoned(kernel.columns()), 0, 0);
        Matrix c = new Matrix(MachineCode.poisoned(1), 0, 4);
        assertThatThrownBy(
                        () -> kernel.run(1, 1, 1, new Matrix(closed, 0, 4), b, c, Matrix.NONE, MachineCode.arguments()))
                .isInstanceOf(IllegalStateException.class);
    }
}
