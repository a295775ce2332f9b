package dev.tenon.cpu.loops;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;

/** Products of f32 matrices by {@link VectorTile}s, a panel of B at a time. */
final class VectorProduct {
    private static final int NR = Gemm.NR;

    private VectorProduct() {}

    /** See {@link Loops#product}. */
    static void run(Gemm.Size size, Matrix a, Matrix b, Matrix c, Start start, Place edge) {
        int n = size.n();
        for (int column = 0; column < n; column += NR) {
            panel(
                    new Gemm.Size(size.m(), Math.min(NR, n - column), size.k()),
                    a,
                    new Place(b.memory(), b.offset() + (column / NR) * b.stride()),
                    c.plus(4L * column),
                    start.from(column),
                    edge);
        }
    }

    /** All rows of one panel, of which {@code size.n()} columns are written. */
    private static void panel(Gemm.Size size, Matrix a, Place b, Matrix c, Start start, Place edge) {
        int m = size.m();
        int columns = size.n();
        int k = size.k();
        int most = VectorTile.ROWS;
        Matrix tile = new Matrix(edge.memory(), edge.offset(), 4L * NR);
        Matrix biases = start.bias();
        boolean direct = columns == NR && start.kind() == Start.Kind.ZERO;
        for (int row = 0; row < m; row += most) {
            int rows = Math.min(most, m - row);
            Matrix aRows = a.plus(row * a.stride());
            Matrix cRows = c.plus(row * c.stride());
            if (direct) {
                VectorTile.run(rows, k, aRows, b, cRows);
                continue;
            }
            VectorTile.run(rows, k, aRows, b, tile);
            if (columns < NR) {
                copyEdge(rows, columns, edge, cRows, start);
            } else if (start.kind() == Start.Kind.BIAS && Segments.isNative(biases.memory())) {
                VectorTile.add(rows, edge, biases, cRows);
            } else if (start.kind() == Start.Kind.BIAS) {
                copyEdge(rows, columns, edge, cRows, start);
            } else {
                VectorTile.add(rows, edge, cRows, cRows);
            }
        }
    }

    private static void copyEdge(int rows, int columns, Place edge, Matrix c, Start start) {
        MemorySegment memory = c.memory();
        Matrix bias = start.bias();
        for (int row = 0; row < rows; row++) {
            for (int j = 0; j < columns; j++) {
                float value = edge.memory().get(Loops.F32, edge.offset() + 4L * (row * NR + j));
                long at = c.offset() + row * c.stride() + 4L * j;
                if (start.kind() == Start.Kind.RESULT) {
                    value += memory.get(Loops.F32, at);
                } else if (start.kind() == Start.Kind.BIAS) {
                    value += bias.memory().get(Loops.F32, bias.offset() + 4L * j);
                }
                memory.set(Loops.F32, at, value);
            }
        }
    }
}
