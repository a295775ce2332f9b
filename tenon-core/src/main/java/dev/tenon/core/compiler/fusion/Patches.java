package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.movement.Transpose;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Convolutions whose windows tile the image: a window is a row of a matrix once the elements lie by windows, and the
 * convolution is a product. Vision transformers cut pictures that way, and others halve them between stages.
 */
final class Patches {
    /** Bytes of an image that caches keep while its elements are moved. */
    private static final long MOST_BYTES = 16 << 20;
    /** Channels below which kernels for convolutions would fill them up, so that any size is worth the move. */
    private static final long FEW_CHANNELS = 8;

    private static final long CHUNK_BYTES = 16;

    private Patches() {}

    /** @param x concrete, its channels second */
    static boolean suits(Conv op, Value x, Shape weights) {
        Shape shape = x.shape();
        for (int i = 0; i < op.strides().size(); i++) {
            long kernel = weights.size(2 + i);
            boolean tiles = op.strides().get(i) == kernel
                    && (op.dilations().get(i) == 1 || kernel == 1)
                    && op.padsBefore().get(i) == 0
                    && op.padsAfter().get(i) == 0
                    && shape.size(2 + i) % kernel == 0;
            if (!tiles) {
                return false;
            }
        }
        boolean worth = shape.size(1) < FEW_CHANNELS || x.type().bytes() <= MOST_BYTES;
        return op.groups() == 1
                && !op.epilogue().residualFirst()
                && worth
                && x.dtype().bytesFor(weights.elements(1, weights.rank())) % CHUNK_BYTES == 0;
    }

    /**
     * The image by windows: [B, windows in each dim..., elements of a window].
     *
     * @param x the image
     * @param last whether its channels are innermost, and then are so in windows, too; else they come first in both
     */
    static Value of(Value x, boolean last, Shape weights, Rewriter into) {
        Shape shape = x.shape();
        int dims = shape.rank() - 2;
        List<Long> split = new ArrayList<>(List.of(shape.size(0)));
        List<Long> joined = new ArrayList<>(split);
        if (!last) {
            split.add(shape.size(1));
        }
        for (int i = 0; i < dims; i++) {
            long kernel = weights.size(2 + i);
            long windows = shape.size(last ? 1 + i : 2 + i) / kernel;
            split.addAll(List.of(windows, kernel));
            joined.add(windows);
        }
        if (last) {
            split.add(shape.size(shape.rank() - 1));
        }
        joined.add(weights.elements(1, weights.rank()));
        int first = last ? 1 : 2;
        List<Integer> order = new ArrayList<>(List.of(0));
        IntStream.range(0, dims).forEach(i -> order.add(first + 2 * i));
        if (!last) {
            order.add(1);
        }
        IntStream.range(0, dims).forEach(i -> order.add(first + 2 * i + 1));
        if (last) {
            order.add(first + 2 * dims);
        }
        Value moved = into.add(new Transpose(order), into.reshape(x, sizes(split)));
        return into.reshape(moved, sizes(joined));
    }

    private static long[] sizes(List<Long> sizes) {
        return sizes.stream().mapToLong(size -> size).toArray();
    }
}
