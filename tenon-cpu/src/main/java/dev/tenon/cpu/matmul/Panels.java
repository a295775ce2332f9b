package dev.tenon.cpu.matmul;

import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Gemm;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Packs matrices of elements of any width into the panels of {@link Gemm}. */
final class Panels {
    private static final int NR = Gemm.NR;

    private Panels() {}

    /**
     * A matrix in memory.
     *
     * @param from element that the first row begins at; element (row, column) of the matrix is number
     *     {@code from + row * rowStride + column * columnStride}
     */
    record Matrix(MemorySegment memory, long from, long rowStride, long columnStride, int rows, int columns) {}

    /** Packs B, whose elements have {@code width} bytes, to byte {@code toOffset} on; the memory there is zero. */
    static void pack(int width, Matrix b, MemorySegment to, long toOffset) {
        MemorySegment memory = b.memory;
        long columnStride = b.columnStride;
        for (int column = 0; column < b.columns; column += NR) {
            int columns = Math.min(NR, b.columns - column);
            long panel = toOffset + (long) column * b.rows * width;
            for (int row = 0; row < b.rows; row++) {
                long at = panel + (long) row * NR * width;
                long first = b.from + row * b.rowStride + column * columnStride;
                if (columnStride == 1) {
                    MemorySegment.copy(memory, first * width, to, at, (long) columns * width);
                } else {
                    for (int j = 0; j < columns; j++) {
                        copy(width, memory, (first + j * columnStride) * width, to, at + (long) j * width);
                    }
                }
            }
        }
    }

    private static void copy(int width, MemorySegment from, long fromOffset, MemorySegment to, long toOffset) {
        switch (width) {
            case 1 -> to.set(ValueLayout.JAVA_BYTE, toOffset, from.get(ValueLayout.JAVA_BYTE, fromOffset));
            case 2 -> to.set(Convert.I16, toOffset, from.get(Convert.I16, fromOffset));
            default -> to.set(Convert.I32, toOffset, from.get(Convert.I32, fromOffset));
        }
    }
}
