package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import java.util.List;

/**
 * Says how a pooling window walks over its input. Lists have one element for each spatial dim, or one that counts for
 * all, or none for the default. Immutable.
 *
 * @param kernel sizes of the window
 * @param strides the kernel's sizes by default, as in PyTorch
 * @param padsBefore cells before each spatial dim, 0 by default
 * @param padsAfter cells after each spatial dim, 0 by default
 * @param dilations distances of the window's cells, 1 by default
 * @param ceil whether a last window that the input does not fill counts
 * @param countPadding whether an average divides by padding cells too
 */
public record PoolOptions(
        List<Long> kernel,
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        boolean ceil,
        boolean countPadding) {
    public PoolOptions {
        kernel = List.copyOf(Require.elements(kernel, "kernel"));
        strides = List.copyOf(Require.elements(strides, "strides"));
        padsBefore = List.copyOf(Require.elements(padsBefore, "padsBefore"));
        padsAfter = List.copyOf(Require.elements(padsAfter, "padsAfter"));
        dilations = List.copyOf(Require.elements(dilations, "dilations"));
    }

    /** Returns windows of those sizes, side by side, without padding. */
    public static PoolOptions of(long... kernel) {
        return new PoolOptions(
                ConvOptions.list(kernel, "kernel"), List.of(), List.of(), List.of(), List.of(), false, false);
    }

    public PoolOptions withStrides(long... each) {
        return new PoolOptions(
                kernel, ConvOptions.list(each, "each"), padsBefore, padsAfter, dilations, ceil, countPadding);
    }

    /** Returns options with the same padding at both ends of each spatial dim. */
    public PoolOptions withPadding(long... each) {
        return withPadding(Require.nonNull(each, "each"), each);
    }

    /** Returns options with padding before and after each spatial dim. */
    public PoolOptions withPadding(long[] before, long[] after) {
        return new PoolOptions(
                kernel,
                strides,
                ConvOptions.list(before, "before"),
                ConvOptions.list(after, "after"),
                dilations,
                ceil,
                countPadding);
    }

    public PoolOptions withDilations(long... each) {
        return new PoolOptions(
                kernel, strides, padsBefore, padsAfter, ConvOptions.list(each, "each"), ceil, countPadding);
    }

    public PoolOptions withCeil(boolean on) {
        return new PoolOptions(kernel, strides, padsBefore, padsAfter, dilations, on, countPadding);
    }

    public PoolOptions withCountPadding(boolean on) {
        return new PoolOptions(kernel, strides, padsBefore, padsAfter, dilations, ceil, on);
    }
}
