package dev.tenon.cuda.lower.matmul;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.MatMulShape;
import dev.tenon.cuda.port.DeviceProperties;

/**
 * How a product of few rows is cut, so that the weight is read at memory's rate: enough warps must have loads on their
 * way on every multiprocessor.
 *
 * @param alongK whether the weight lies along k
 * @param rows that the kernel is compiled for, at least the product's
 * @param shares along k the warps of a group of columns, across k the blocks of one
 * @param groups of columns
 * @param blocks of the launch
 * @param columns of a group
 */
record GemvPlan(boolean alongK, int rows, int shares, long groups, int blocks, int columns) {
    private static final int MOST_ROWS = 16;
    private static final int WARPS = 8;
    private static final int LANES = 32;
    private static final int CHUNK = 16;
    private static final int ROWS_AHEAD = 8;
    /** Chunks of the weight that a thread has on their way, in shared memory. */
    private static final int AHEAD = 12;
    /** The same along k for one row. */
    private static final int AHEAD_OF_ONE = 8;
    /** Blocks of a multiprocessor that walk over the columns, for one row along k: each makes its row once. */
    private static final int BLOCKS_OF_ONE = 4;
    /** The same for two rows. */
    private static final int BLOCKS_OF_TWO = 2;
    /** Shared memory that the kernel has beside that, at most. */
    static final int STATIC_BYTES = 10 << 10;

    /** Warps of a multiprocessor that fill memory's rate along k, as measured on an H200. */
    private static final int BUSY_WARPS = 32;
    /** The same across k, where each share of k is handed on and added up. */
    private static final int BUSY_ACROSS = 16;

    private static final int MOST_SHARES = 64;
    /** Columns of halves across k from which the library is sooner. */
    private static final int WIDE = 8192;

    /** Why the kernel does not take a product; empty where it does. */
    static String refusal(DType dtype, MatMulShape shape) {
        if (shape.m() > MOST_ROWS) {
            return shape.m() + " rows are more than " + MOST_ROWS;
        }
        if (shape.matrices() > 1 || !shape.batch().isEmpty()) {
            return "there are " + shape.matrices() + " matrices";
        }
        return shape.transposeA() && shape.m() > 1 ? "rows of a do not lie along k" : "";
    }

    /** Rows up to which it is sooner than libraries and tensor cores, as measured on an H200. */
    static int soonest(DType dtype, MatMulShape shape) {
        if (shape.transposeB()) {
            return 2;
        }
        return dtype.bytes() == 2 && shape.n() > WIDE ? 0 : 1;
    }

    static GemvPlan of(DType dtype, MatMulShape shape, DeviceProperties device) {
        int rows = shape.m() <= 1 ? 1 : Integer.highestOneBit((int) shape.m() - 1) * 2;
        int pack = CHUNK / dtype.bytes();
        long busy = (long) device.multiprocessors() * BUSY_WARPS;
        if (shape.transposeB()) {
            int columns = rows == 1 ? 2 : 4;
            long groups = Math.ceilDiv(shape.n(), columns);
            int shares = 1;
            while (shares < WARPS && groups * shares < busy && shape.k() >= 2L * shares * LANES * pack) {
                shares *= 2;
            }
            long blocks = Math.min(
                    Math.ceilDiv(groups, WARPS / shares),
                    (long) device.multiprocessors() * blocksOfMultiprocessor(rows));
            return new GemvPlan(true, rows, shares, groups, SizeMath.toInt("matmul", blocks), columns);
        }
        int columns = LANES * pack;
        long groups = Math.ceilDiv(shape.n(), columns);
        long most = Math.min(MOST_SHARES, shape.k() / (WARPS * ROWS_AHEAD));
        long across = (long) device.multiprocessors() * BUSY_ACROSS;
        long shares = Math.clamp(Math.ceilDiv(across, groups * WARPS), 1, Math.max(1, most));
        return new GemvPlan(
                false,
                rows,
                (int) shares,
                groups,
                SizeMath.toInt("matmul", SizeMath.product("matmul", groups, shares)),
                columns);
    }

    /** As many as registers leave room for, where rows are few enough to be multiplied at memory's rate. */
    private static int blocksOfMultiprocessor(int rows) {
        return rows == 1 ? BLOCKS_OF_ONE : rows == 2 ? BLOCKS_OF_TWO : Integer.MAX_VALUE;
    }

    /** Bytes of sums that blocks hand on. */
    long workspaceBytes(DType dtype) {
        return alongK || shares == 1
                ? 0
                : SizeMath.product(
                        "matmul",
                        groups,
                        shares,
                        (long) rows * columns * dtype.accumulator().bytes());
    }

    /** Bytes of the counters that blocks meet at. */
    long counterBytes() {
        return alongK || shares == 1 ? 0 : groups * Integer.BYTES;
    }

    /**
     * Dynamic shared memory of a block.
     *
     * @param made rows that it makes before it multiplies them
     * @param k their elements
     */
    int sharedBytes(DType dtype, long made, long k) {
        int pack = CHUNK / dtype.bytes();
        long each = Math.ceilDiv(Math.ceilDiv(k, (long) shares * WARPS), pack) * pack;
        long line = alongK ? k : each * WARPS;
        long ring = (long) (alongK && rows == 1 ? AHEAD_OF_ONE : AHEAD) * CHUNK * WARPS * LANES;
        return SizeMath.toInt(
                "matmul", SizeMath.sum("matmul", ring, SizeMath.product("matmul", made, line, dtype.bytes())));
    }

    /** The kernel's name. */
    String entry() {
        return alongK ? "gemv_along_k" : "gemv_across_k";
    }
}
