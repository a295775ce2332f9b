package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.cpu.memory.Matrix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Rows of every length up to some vectors. */
class MoveKernelTest {
    private final MemorySegment arguments = MachineCode.arguments();

    @BeforeAll
    static void requireMachineCode() {
        MachineCode.widths();
    }

    @Test
    void everyLengthAndStride() {
        MoveKernel kernel = MoveKernel.make();
        MemorySegment from = Arena.ofAuto().allocate(4096, 4);
        for (int i = 0; i < 4096; i++) {
            from.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
        for (int bytes = 4; bytes <= 140; bytes += 4) {
            for (int gap = 0; gap <= 8; gap += 4) {
                MemorySegment to = Arena.ofAuto().allocate(4096, 4);
                to.fill((byte) 0x55);
                kernel.run(5, bytes, new Matrix(from, 4, bytes + 12), new Matrix(to, 8, bytes + gap), false, arguments);
                for (int row = 0; row < 5; row++) {
                    long at = 8 + row * (long) (bytes + gap);
                    assertThat(to.asSlice(at, bytes).mismatch(from.asSlice(4 + row * (bytes + 12L), bytes)))
                            .as(bytes + " bytes, row " + row)
                            .isEqualTo(-1);
                    for (int i = 0; i < gap; i++) {
                        assertThat(to.get(ValueLayout.JAVA_BYTE, at + bytes + i))
                                .isEqualTo((byte) 0x55);
                    }
                }
                assertThat(to.get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 0x55);
                assertThat(to.get(ValueLayout.JAVA_BYTE, 8 + 5L * (bytes + gap)))
                        .isEqualTo((byte) 0x55);
            }
        }
    }

    /** Long rows go past the caches but for their ends. */
    @Test
    void rowsThatBeginWithinLines() {
        MoveKernel kernel = MoveKernel.make();
        MemorySegment from = Arena.ofAuto().allocate(8192, 64);
        for (int i = 0; i < 8192; i++) {
            from.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
        for (int bytes = 248; bytes <= 420; bytes += 4) {
            for (int offset = 0; offset <= 64; offset += 4) {
                MemorySegment to = Arena.ofAuto().allocate(8192, 64);
                to.fill((byte) 0x55);
                long step = bytes + 20L;
                kernel.run(3, bytes, new Matrix(from, 12, 512), new Matrix(to, offset, step), true, arguments);
                for (int row = 0; row < 3; row++) {
                    long at = offset + row * step;
                    assertThat(to.asSlice(at, bytes).mismatch(from.asSlice(12 + row * 512L, bytes)))
                            .as(bytes + " bytes at " + offset + ", row " + row)
                            .isEqualTo(-1);
                    assertThat(to.get(ValueLayout.JAVA_BYTE, at + bytes)).isEqualTo((byte) 0x55);
                }
            }
        }
    }

    @Test
    void refusesWhatDoesNotFit() {
        MoveKernel kernel = MoveKernel.make();
        MemorySegment small = Arena.ofAuto().allocate(32, 4);
        MemorySegment large = Arena.ofAuto().allocate(64, 4);
        Matrix wide = new Matrix(large, 0, 16);
        assertThatThrownBy(() -> kernel.run(4, 16, wide, new Matrix(small, 0, 16), false, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(4, 16, new Matrix(small, 0, 16), wide, false, arguments))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> kernel.run(4, 15, wide, wide, false, arguments))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> kernel.run(4, 16, wide, new Matrix(large.asReadOnly(), 0, 16), false, arguments))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void rowsPastTheCachesArriveToo() {
        MoveKernel kernel = MoveKernel.make();
        long bytes = 96;
        long rows = 1003;
        MemorySegment from = Arena.ofAuto().allocate(rows * (bytes + 4) + 4, 64);
        for (long i = 0; i < from.byteSize(); i++) {
            from.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + (i >> 8)));
        }
        MemorySegment to = Arena.ofAuto().allocate(rows * 128, 64);
        to.fill((byte) 0x55);
        kernel.run(rows, bytes, new Matrix(from, 4, bytes + 4), new Matrix(to, 0, 128), true, arguments);
        for (long row = 0; row < rows; row++) {
            assertThat(to.asSlice(row * 128, bytes).mismatch(from.asSlice(4 + row * (bytes + 4), bytes)))
                    .isEqualTo(-1);
            assertThat(to.get(ValueLayout.JAVA_BYTE, row * 128 + bytes)).isEqualTo((byte) 0x55);
        }
    }
}
