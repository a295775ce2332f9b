package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.MatMulShape;
import java.util.List;

/**
 * Sizes of a grouped product.
 *
 * @param rows of all groups
 * @param groups how many
 * @param n columns of a weight
 * @param k its rows
 */
record GroupedSizes(long rows, long groups, long n, long k) {
    static GroupedSizes of(Node node) {
        Shape weights = node.input(1).shape();
        return new GroupedSizes(node.input(0).shape().size(0), weights.size(0), weights.size(2), weights.size(1));
    }

    /** Blocks enough for the tiles that there may be, at most so many. */
    int blocks(int tileRows, int tileColumns, long most) {
        long high = SizeMath.sum("grouped_matmul", rows / tileRows, Math.min(rows, groups));
        double tiles = (double) high * Math.ceilDiv(n, tileColumns);
        return (int) Math.max(1, Math.min(tiles, (double) most));
    }

    /** Without any knowledge of the counts, groups of one size. */
    MatMulShape even() {
        long some = Math.max(1, groups);
        return new MatMulShape(
                Math.ceilDiv(rows, some), n, k, false, false, List.of(some), List.of(0L), List.of(k * n));
    }
}
