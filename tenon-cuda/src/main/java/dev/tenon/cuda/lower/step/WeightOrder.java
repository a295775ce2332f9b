package dev.tenon.cuda.lower.step;

import dev.tenon.core.ir.TensorType;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.Transposition;

/** How a constant matrix lies for a step, other than as it is. */
public sealed interface WeightOrder {
    /** Notes the kernels that bring a matrix into this order. */
    default void note(Kernels kernels, TensorType matrix) {
        switch (this) {
            case Transposed() -> {
                Transposition _ = new Transposition(kernels, matrix);
            }
            case Fragments order -> {
                FragmentPacking _ = new FragmentPacking(kernels, matrix, order);
            }
        }
    }

    /** Rows and columns exchanged. */
    record Transposed() implements WeightOrder {}

    /**
     * In the order in which the warps of {@code layers.cu} read it: pieces of 8 columns of a product by 64 bytes of k,
     * those of a warp one behind the other. The columns are shared among items.
     *
     * @param items that blocks make
     * @param groups of warps, by columns
     * @param splits warps of a group, which share k
     * @param tiles column tiles that a warp takes at a time
     * @param n columns of an item, a multiple of 8 groups and tiles
     * @param k rows, a multiple of 64 bytes for each split
     * @param run columns of an item that lie one behind the other in the matrix; those of items too
     * @param jump from a run of an item to its next
     * @param along whether the matrix is [columns, k] rather than [k, columns]
     */
    record Fragments(int items, int groups, int splits, int tiles, int n, int k, int run, int jump, boolean along)
            implements WeightOrder {}
}
