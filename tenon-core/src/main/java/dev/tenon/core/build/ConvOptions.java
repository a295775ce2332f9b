package dev.tenon.core.build;

import dev.tenon.core.error.Require;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Says how a convolution walks over its input. Lists have one element for each spatial dim, or one that counts for all,
 * or none for the default. Immutable.
 *
 * @param strides 1 by default
 * @param padsBefore zeros before each spatial dim, 0 by default
 * @param padsAfter zeros after each spatial dim, 0 by default
 * @param dilations distances of the kernel's elements, 1 by default
 * @param outputPadding elements that a transposed convolution adds after each spatial dim of its result, 0 by default
 * @param groups of channels that do not see each other; the channels' number for a depthwise convolution
 */
public record ConvOptions(
        List<Long> strides,
        List<Long> padsBefore,
        List<Long> padsAfter,
        List<Long> dilations,
        List<Long> outputPadding,
        long groups) {
    public ConvOptions {
        strides = List.copyOf(Require.elements(strides, "strides"));
        padsBefore = List.copyOf(Require.elements(padsBefore, "padsBefore"));
        padsAfter = List.copyOf(Require.elements(padsAfter, "padsAfter"));
        dilations = List.copyOf(Require.elements(dilations, "dilations"));
        outputPadding = List.copyOf(Require.elements(outputPadding, "outputPadding"));
    }

    /** Returns stride 1, no padding, dilation 1, one group. */
    public static ConvOptions defaults() {
        return new ConvOptions(List.of(), List.of(), List.of(), List.of(), List.of(), 1);
    }

    public ConvOptions withStrides(long... each) {
        return new ConvOptions(list(each, "each"), padsBefore, padsAfter, dilations, outputPadding, groups);
    }

    /** Returns options with the same number of zeros at both ends of each spatial dim. */
    public ConvOptions withPadding(long... each) {
        return withPadding(Require.nonNull(each, "each"), each);
    }

    /** Returns options with zeros before and after each spatial dim. */
    public ConvOptions withPadding(long[] before, long[] after) {
        return new ConvOptions(strides, list(before, "before"), list(after, "after"), dilations, outputPadding, groups);
    }

    public ConvOptions withDilations(long... each) {
        return new ConvOptions(strides, padsBefore, padsAfter, list(each, "each"), outputPadding, groups);
    }

    public ConvOptions withOutputPadding(long... each) {
        return new ConvOptions(strides, padsBefore, padsAfter, dilations, list(each, "each"), groups);
    }

    public ConvOptions withGroups(long count) {
        return new ConvOptions(strides, padsBefore, padsAfter, dilations, outputPadding, count);
    }

    static List<Long> list(long[] values, String argument) {
        return LongStream.of(Require.nonNull(values, argument)).boxed().toList();
    }
}
