package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Unary;
import org.jspecify.annotations.Nullable;

/**
 * A phase of a resident launch: what all blocks do between two meetings. Immutable.
 *
 * @param activation of a product; null for none
 * @param factor the epsilon of a norm, the scale of attention
 * @param maskDims of attention, the dims that its mask has: batch 1, heads 2, queries 4, keys 8; 16 where weights that
 *     are NaN count as 0
 */
record ResidentPhase(
        Kind kind,
        Rows source,
        Operands at,
        Sizes sizes,
        @Nullable Unary activation,
        double factor,
        int maskDims) {
    /** What is made; the numbers are those of resident.cuh. */
    enum Kind {
        PRODUCT(0),
        ATTENTION(1),
        NORM(2);

        final int code;

        Kind(int code) {
            this.code = code;
        }
    }

    /** What a product's rows are; the numbers are those of resident.cuh. */
    enum Rows {
        PLAIN(0),
        NORM(1),
        ATTENTION(2);

        final int code;

        Rows(int code) {
            this.code = code;
        }
    }

    /**
     * Values, named by what is not a view of another.
     *
     * @param x what rows are read or made from
     * @param weight of a product
     * @param scale of a norm; of attention the mask
     * @param normed where norms of a product's rows are stored too
     */
    record Operands(
            Value x,
            @Nullable Weight weight,
            @Nullable Value bias,
            @Nullable Value residual,
            Value y,
            @Nullable Value scale,
            @Nullable Value shift,
            @Nullable Value normed) {}

    /** A matrix that a product reads as [n,k]. */
    record Weight(Value value, boolean transposed) {}

    /**
     * Sizes.
     *
     * @param rows of the result
     * @param n columns of the result; of attention its heads
     * @param k elements of a row of x; of attention of a head
     * @param keys tokens of a sequence, where there is attention
     * @param head elements of a head, where there is attention; else 0
     * @param wide whether a norm's result is f32
     */
    record Sizes(long rows, long n, long k, long keys, int head, boolean wide) {}

    /** The same phase with rows that are made from another value's. */
    ResidentPhase reading(Rows rows, ResidentPhase first, @Nullable Value normed) {
        Operands own = at;
        Operands from = first.at;
        return new ResidentPhase(
                kind,
                rows,
                new Operands(from.x, own.weight, own.bias, own.residual, own.y, from.scale, from.shift, normed),
                new Sizes(sizes.rows, sizes.n, sizes.k, first.sizes.keys, first.sizes.head, false),
                activation,
                first.factor,
                first.maskDims);
    }

    /** A norm whose result is f32 and lies elsewhere. */
    ResidentPhase widened(Value result) {
        return new ResidentPhase(
                kind,
                source,
                new Operands(at.x, null, null, null, result, at.scale, at.shift, null),
                new Sizes(sizes.rows, sizes.n, sizes.k, 0, 0, true),
                null,
                factor,
                0);
    }
}
