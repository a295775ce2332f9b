package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import org.jspecify.annotations.Nullable;

/**
 * An attention as kernels are asked about it. Sizes are at least 1, but for {@code keys}.
 *
 * @param group query heads that share a key head
 * @param size of a head of queries and keys
 * @param sizeV of a head of values
 * @param window 0 for none
 * @param cap 0 for none
 * @param formula what counts
 */
record AttentionProblem(
        DType dtype,
        long batches,
        long heads,
        int group,
        long queries,
        long keys,
        int size,
        int sizeV,
        Strides q,
        Strides k,
        Strides v,
        Strides y,
        Mask mask,
        MaskStrides maskStrides,
        boolean causal,
        long window,
        double scale,
        double cap,
        Formula formula) {
    private static final int WIDEST = 16;

    /**
     * Strides of an operand [batch, token, head, element], in elements; its elements are neighbours.
     *
     * @param batch from one batch to the next
     * @param token likewise
     * @param head likewise
     */
    record Strides(long batch, long token, long head) {
        /** Of a dense operand whose tokens and heads are those dims. */
        static Strides of(Shape shape, int token, int head) {
            long[] all = shape.strides();
            return new Strides(all[0], all[token], all[head]);
        }

        private boolean isPacked(int pack) {
            return batch % pack == 0 && token % pack == 0 && head % pack == 0;
        }
    }

    /** Which keys count, and what of rows without any. */
    enum Formula {
        /** Those that a query sees; one that sees none is 0. */
        SEEN_ALONE(0),
        /** All: a row of -inf is NaN. */
        PLAIN(1),
        /** All, and weights that are NaN count as 0. */
        GUARDED(2);

        private final int code;

        Formula(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    /** What a mask is. */
    enum Mask {
        NONE(0),
        ADDED(1),
        BOOLEAN(2);

        private final int code;

        Mask(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }
    }

    /**
     * Strides of a mask, in elements; 0 where it is repeated.
     *
     * @param batch from one batch to the next
     * @param head likewise
     * @param query likewise
     * @param key likewise
     */
    record MaskStrides(long batch, long head, long query, long key) {
        /** Of a value of at most four dims, the last of them the keys; zeros for none. */
        static MaskStrides of(@Nullable Value given) {
            long[] strides = new long[4];
            if (given != null) {
                Shape mask = given.shape();
                long[] own = mask.strides();
                int lead = strides.length - mask.rank();
                for (int axis = 0; axis < mask.rank(); axis++) {
                    strides[lead + axis] = mask.size(axis) == 1 ? 0 : own[axis];
                }
            }
            return new MaskStrides(strides[0], strides[1], strides[2], strides[3]);
        }
    }

    /**
     * Where operands are: their slots, and how many bytes into them k and v start.
     *
     * @param mask negative for none
     */
    record Operands(int q, int k, int v, long kStart, long vStart, int mask, int y) {}

    /** The larger size of a head. */
    int largestSize() {
        return Math.max(size, sizeV);
    }

    /** Heads of keys. */
    long keyHeads() {
        return heads / group;
    }

    /** Whether rows of all operands start on 16-byte boundaries and are whole 16-byte pieces. */
    boolean isPacked() {
        int pack = WIDEST / dtype.bytes();
        return size % pack == 0
                && sizeV % pack == 0
                && q.isPacked(pack)
                && k.isPacked(pack)
                && v.isPacked(pack)
                && y.isPacked(pack);
    }

    /** Why kernels whose blocks have all keys of a head do not take it; empty where they may. */
    String refusalWhole() {
        return causal || window > 0 || cap > 0
                ? "it is causal, or there is a window or a cap"
                : isPacked() ? "" : "heads do not start on 16-byte boundaries";
    }

    /** Whether an operand is the same for all batches. */
    boolean repeatsBatch() {
        return q.batch() == 0 || k.batch() == 0 || v.batch() == 0;
    }

    /** A launch with the arguments that all kernels begin with. */
    PreparedLaunch.Builder launch(Kernel kernel, LaunchShape shape, Operands at) {
        PreparedLaunch.Builder launch = PreparedLaunch.of(kernel, shape);
        add(launch.value(at.q()), q);
        add(launch.value(at.k(), at.kStart()), k);
        add(launch.value(at.v(), at.vStart()), v);
        add(launch.value(at.y()), y);
        return launch.value(at.mask())
                .addAll(maskStrides.batch(), maskStrides.head(), maskStrides.query(), maskStrides.key())
                .add(batches)
                .add(group)
                .addAll(queries, keys)
                .add(size)
                .add(sizeV)
                .add(mask.code)
                .add(causal)
                .add(window)
                .compute(dtype, scale)
                .compute(dtype, cap)
                .add(formula.code);
    }

    private static void add(PreparedLaunch.Builder launch, Strides strides) {
        launch.addAll(strides.batch(), strides.token(), strides.head());
    }
}
