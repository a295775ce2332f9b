package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The sizes of a batched, broadcast matrix product. Where all matrices of a stack share the right operand and follow
 * each other, they are one taller matrix.
 *
 * @param m rows of a matrix of the result
 * @param n its columns
 * @param k length of the sums
 * @param transposeA whether a lies as [k,m]
 * @param transposeB whether b lies as [n,k]
 * @param batch sizes of the fewest dims that count the matrices, outermost first; empty for one matrix
 * @param stridesA elements of a between neighbours along each, 0 where it is repeated
 * @param stridesB likewise
 */
public record MatMulShape(
        long m,
        long n,
        long k,
        boolean transposeA,
        boolean transposeB,
        List<Long> batch,
        List<Long> stridesA,
        List<Long> stridesB) {
    public MatMulShape {
        batch = List.copyOf(batch);
        stridesA = List.copyOf(stridesA);
        stridesB = List.copyOf(stridesB);
    }

    /** Of concrete shapes that the operation has checked. */
    public static MatMulShape of(Shape a, Shape b, boolean transposeA, boolean transposeB) {
        int rankA = a.rank();
        int rankB = b.rank();
        long m = a.size(rankA - (transposeA ? 1 : 2));
        long k = a.size(rankA - (transposeA ? 2 : 1));
        long n = b.size(rankB - (transposeB ? 2 : 1));
        if (rankB == 2 && !transposeA) { // the usual product, which layers make many of
            return new MatMulShape(a.elements(0, rankA - 1), n, k, false, transposeB, List.of(), List.of(), List.of());
        }
        Shape batchA = a.range(0, rankA - 2);
        Shape batchB = b.range(0, rankB - 2);
        Broadcast broadcast = Broadcast.of(Shape.broadcast(batchA, batchB), List.of(batchA, batchB));
        if (broadcast.isScalar(1) && broadcast.isWhole(0) && !transposeA) {
            long matrices = Arrays.stream(broadcast.sizes()).reduce(1, (x, y) -> x * y);
            return new MatMulShape(matrices * m, n, k, false, transposeB, List.of(), List.of(), List.of());
        }
        return new MatMulShape(
                m,
                n,
                k,
                transposeA,
                transposeB,
                list(broadcast.sizes(), 1),
                list(broadcast.strides(0), m * k),
                list(broadcast.strides(1), k * n));
    }

    private static List<Long> list(long[] values, long unit) {
        return Arrays.stream(values).map(value -> value * unit).boxed().toList();
    }

    /** How many matrices. */
    public long matrices() {
        long product = 1;
        for (long size : batch) {
            product *= size;
        }
        return product;
    }

    /** Whether it equals another, field by field. */
    public boolean isSame(MatMulShape other) {
        return m == other.m
                && n == other.n
                && k == other.k
                && transposeA == other.transposeA
                && transposeB == other.transposeB
                && batch.equals(other.batch)
                && stridesA.equals(other.stridesA)
                && stridesB.equals(other.stridesB);
    }

    /** Whether the result has no elements. */
    public boolean isEmpty() {
        return m == 0 || n == 0 || matrices() == 0;
    }

    /** Whether what lies along memory comes in whole packs of so many elements, in both operands and the result. */
    boolean packs(int elements) {
        return (transposeA ? m : k) % elements == 0 && (transposeB ? k : n) % elements == 0 && n % elements == 0;
    }

    /** The product with the inner {@code dims} dims of its batch. */
    public MatMulShape inner(int dims) {
        int from = Math.max(0, batch.size() - dims);
        return new MatMulShape(
                m,
                n,
                k,
                transposeA,
                transposeB,
                batch.subList(from, batch.size()),
                stridesA.subList(from, batch.size()),
                stridesB.subList(from, batch.size()));
    }

    /** Where {@link #inner} products start, in elements of a, b and the result. */
    public List<Start> starts(int dims) {
        int outer = Math.max(0, batch.size() - dims);
        long each = inner(dims).matrices() * m * n;
        List<Start> starts = new ArrayList<>(List.of(new Start(0, 0, 0)));
        for (int d = 0; d < outer; d++) {
            List<Start> more = new ArrayList<>();
            for (Start start : starts) {
                for (long i = 0; i < batch.get(d); i++) {
                    more.add(new Start(
                            start.a + i * stridesA.get(d), start.b + i * stridesB.get(d), more.size() * each));
                }
            }
            starts = more;
        }
        return starts;
    }

    /** How many {@link #starts} there are. */
    public long parts(int dims) {
        long parts = 1;
        for (int d = 0; d < batch.size() - dims; d++) {
            parts *= batch.get(d);
        }
        return parts;
    }

    /**
     * Where a part of the batch starts, in elements.
     *
     * @param a in the left operand
     * @param b in the right one
     * @param y in the result
     */
    public record Start(long a, long b, long y) {}
}
