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
     * Packs B[k, n], whose element (row, column) is number {@code from + row * rowStride + column * columnStride}, to
     * byte {@code toOffset} on; the memory there is zero.
     */
    static void pack(
            int width,
            MemorySegment b,
            long from,
            long rowStride,
            long columnStride,
            int k,
            int n,
            MemorySegment to,
            long toOffset) {
        for (int column = 0; column < n; column += NR) {
            int columns = Math.min(NR, n - column);
            long panel = toOffset + (long) column * k * width;
            for (int row = 0; row < k; row++) {
                long at = panel + (long) row * NR * width;
                long first = from + row * rowStride + column * columnStride;
                if (columnStride == 1) {
                    MemorySegment.copy(b, first * width, to, at, (long) columns * width);
                } else {
                    for (int j = 0; j < columns; j++) {
                        copy(width, b, (first + j * columnStride) * width, to, at + (long) j * width);
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
