package dev.tenon.core.ir.reference;

import dev.tenon.core.ir.NdArray;

/**
 * Reference products of dense matrices inside larger arrays: {@code out[i][j] += sum over k of a[i][k] b[k][j]}, in
 * float64, or in integers that wrap.
 */
public sealed interface DenseProduct {
    void multiply(View a, View b, View out, int m, int k, int n);

    /** Writes all products to the array that this was made with. */
    void store();

    public static DenseProduct of(NdArray a, NdArray b, NdArray out) {
        return out.dtype().isFloat() ? new OfDoubles(a, b, out) : new OfLongs(a, b, out);
    }

    /** A matrix inside an array: where it starts, and how far apart its rows and columns are. */
    record View(int start, int rowStride, int columnStride) {
        public static View rows(int start, int columns) {
            return new View(start, columns, 1);
        }

        /** Row-major {@code rows x columns}, or the transpose of a row-major {@code columns x rows}. */
        public static View of(int start, int rows, int columns, boolean transposed) {
            return transposed ? new View(start, 1, rows) : rows(start, columns);
        }

        int at(int row, int column) {
            return start + row * rowStride + column * columnStride;
        }
    }

    /** Floats. */
    final class OfDoubles implements DenseProduct {
        private final double[] a;
        private final double[] b;
        private final double[] sums;
        private final NdArray out;

        OfDoubles(NdArray a, NdArray b, NdArray out) {
            this.a = a.toDoubles();
            this.b = b.toDoubles();
            this.sums = new double[out.size()];
            this.out = out;
        }

        @Override
        public void multiply(View viewA, View viewB, View viewOut, int m, int k, int n) {
            for (int i = 0; i < m; i++) {
                for (int inner = 0; inner < k; inner++) {
                    double left = a[viewA.at(i, inner)];
                    for (int j = 0; j < n; j++) {
                        sums[viewOut.at(i, j)] += left * b[viewB.at(inner, j)];
                    }
                }
            }
        }

        @Override
        public void store() {
            for (int i = 0; i < sums.length; i++) {
                out.set(i, sums[i]);
            }
        }
    }

    /** Integers: sums wrap at 64 bits, so they are exact modulo the width of any narrower result. */
    final class OfLongs implements DenseProduct {
        private final long[] a;
        private final long[] b;
        private final long[] sums;
        private final NdArray out;

        OfLongs(NdArray a, NdArray b, NdArray out) {
            this.a = a.toLongs();
            this.b = b.toLongs();
            this.sums = new long[out.size()];
            this.out = out;
        }

        @Override
        public void multiply(View viewA, View viewB, View viewOut, int m, int k, int n) {
            for (int i = 0; i < m; i++) {
                for (int inner = 0; inner < k; inner++) {
                    long left = a[viewA.at(i, inner)];
                    for (int j = 0; j < n; j++) {
                        sums[viewOut.at(i, j)] += left * b[viewB.at(inner, j)];
                    }
                }
            }
        }

        @Override
        public void store() {
            for (int i = 0; i < sums.length; i++) {
                out.set(i, sums[i]);
            }
        }
    }
}
