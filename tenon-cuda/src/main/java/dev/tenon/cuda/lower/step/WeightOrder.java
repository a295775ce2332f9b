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
     * In the order in which the warps of {@code clustered.cu} read it: pieces of 8 columns of a product by 64 bytes of k,
     * those of a warp one behind the other. The matrix is cut into as many items as several blocks make.
     *
     * @param items that it is cut into
     * @param within whether two warps each share k; else all share the columns
     * @param tiles column tiles that a warp takes at a time
     * @param n columns of the product of an item, a multiple of 32 tiles where warps share k, else of 64 tiles
     * @param k of an item, a multiple of 64 bytes, or of 128 where warps share it
     * @param run columns of an item that lie one behind the other in the matrix
     * @param jump from a run to the next
     * @param column of the matrix where an item begins, times its number
     * @param row where it begins, likewise
     * @param along whether the matrix is [columns, k] rather than [k, columns]
     */
    record Fragments(
            int items,
            boolean within,
            int tiles,
            int n,
            int k,
            int run,
            int jump,
            int column,
            int row,
            boolean along)
            implements WeightOrder {}
}
