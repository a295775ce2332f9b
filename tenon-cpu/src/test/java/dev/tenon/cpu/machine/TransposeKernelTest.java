package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows and columns of every number around tiles, elements of every width, against one element at a time. */
class TransposeKernelTest {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private final MemorySegment arguments = MachineCode.arguments();

    static Iterable<Integer> widths() {
        return MachineCode.widths();
    }

    private void check(TransposeKernel kernel, int rows, int n, int gap, int shift, boolean past) {
        int width = kernel.width();
        long fromStep = (long) (n + gap) * width;
        long toStep = (long) (rows + (shift == 0 ? 64 / width - rows % (64 / width) : 3)) * width;
        MemorySegment from = Arena.ofAuto().allocate(rows * fromStep + 1, 64).asSlice(0, rows * fromStep - gap * width);
        byte[] bytes = new byte[(int) from.byteSize()];
        new Random(rows * 31L + n).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, from, BYTE, 0, bytes.length);
        MemorySegment to = Arena.ofAuto().allocate(n * toStep + shift + 64, 64);
        to.fill((byte) 0x5A);
        int done = kernel.run(
                rows, n, new Matrix(from, 0, fromStep), new Matrix(to, (long) shift * width, toStep), past, arguments);
        assertThat(done % kernel.rows()).isZero();
        assertThat(done).isBetween(Math.max(0, rows / kernel.rows() - 1) * kernel.rows(), rows);
        for (int column = 0; column < n; column++) {
            for (long at = 0; at < toStep && column * toStep + at + shift * width < to.byteSize(); at++) {
                int row = (int) (at / width);
                byte wanted = row < done ? bytes[(int) (row * fromStep + column * width + at % width)] : 0x5A;
                if (to.get(BYTE, shift * width + column * toStep + at) != wanted) {
                    throw new AssertionError(rows + " rows of " + n + " elements of " + width + " bytes, past " + past
                            + ": row " + row + ", column " + column);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("widths")
    void everySize(int lanes) {
        for (int width : new int[] {1, 2, 4, 8}) {
            TransposeKernel kernel = TransposeKernel.make(lanes, width);
            int tile = kernel.rows();
            for (int rows : new int[] {1, tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 2}) {
                for (int n = 1; n <= 130 / width + 35; n++) {
                    for (int gap : new int[] {0, 5}) {
                        check(kernel, rows, n, gap, 0, true);
                        check(kernel, rows, n, gap, 1, true);
                        check(kernel, rows, n, gap, 0, false);
                    }
                }
            }
        }
    }
}
