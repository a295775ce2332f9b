package dev.tenon.cuda.lower.convolution;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The sizes of a convolution or a transposed one. Axes of one element that no window leaves are gone; at least two are
 * left, as a line is a plane of height 1.
 *
 * @param channels of x per group
 * @param outputs of y per group
 * @param axes the spatial ones, outermost first
 * @param transposed whether it is a transposed convolution
 * @param last whether channels lie innermost in x, w and y
 */
record ConvGeometry(
        long batch, long groups, long channels, long outputs, List<Axis> axes, boolean transposed, boolean last) {
    /** Spatial dims that kernels count. */
    static final int MOST_DIMS = 8;

    /** Words of the struct before its arrays. */
    private static final int HEAD = 12;

    static final Axis UNIT = new Axis(1, 1, 1, 1, 0, 0, 1);

    ConvGeometry {
        axes = List.copyOf(axes);
    }

    /**
     * A spatial axis. The cell i of the window at position p of the result lies at {@code p stride - before + i
     * dilation} of x; in a transposed convolution at {@code (p + before - i dilation) / stride}, where that is whole.
     *
     * @param input elements of x
     * @param output elements of y
     * @param before padding
     * @param after padding
     */
    record Axis(long input, long output, long kernel, long stride, long before, long after, long dilation) {}

    static ConvGeometry of(Conv op, Node node) {
        Shape x = node.input(0).shape();
        List<Axis> axes = axes(node, 2, op.strides(), op.padsBefore(), op.padsAfter(), op.dilations());
        Shape w = node.input(1).shape();
        return new ConvGeometry(x.size(0), op.groups(), w.size(1), w.size(0) / op.groups(), axes, false, false);
    }

    static ConvGeometry of(ConvTranspose op, Node node) {
        Shape x = node.input(0).shape();
        List<Axis> axes = axes(node, 2, op.strides(), op.padsBefore(), op.padsAfter(), op.dilations());
        Shape w = node.input(1).shape();
        return new ConvGeometry(x.size(0), op.groups(), w.size(0) / op.groups(), w.size(1), axes, true, false);
    }

    static ConvGeometry of(ChannelsLastConv whole, Node node) {
        Conv op = whole.conv();
        Shape w = node.input(1).shape();
        List<Axis> axes = axes(node, 1, op.strides(), op.padsBefore(), op.padsAfter(), op.dilations());
        long channels = w.size(w.rank() - 1);
        return new ConvGeometry(
                node.input(0).shape().size(0), op.groups(), channels, w.size(0) / op.groups(), axes, false, true);
    }

    private static List<Axis> axes(
            Node node, int first, List<Long> strides, List<Long> before, List<Long> after, List<Long> dilations) {
        List<Axis> axes = new ArrayList<>();
        for (int i = 0; i < strides.size(); i++) {
            Axis axis = new Axis(
                    node.input(0).shape().size(i + first),
                    node.output().shape().size(i + first),
                    node.input(1).shape().size(i + first),
                    strides.get(i),
                    before.get(i),
                    after.get(i),
                    dilations.get(i));
            boolean trivial =
                    axis.input == 1 && axis.output == 1 && axis.kernel == 1 && axis.before == 0 && axis.after == 0;
            if (!trivial) {
                axes.add(axis);
            }
        }
        while (axes.size() < 2) {
            axes.addFirst(UNIT);
        }
        return axes;
    }

    /** Whether windows have cells that no element of x lies on. */
    boolean meetsPadding() {
        for (Axis axis : axes) {
            boolean spread = transposed && (axis.kernel > 1 || axis.stride > 1 || axis.output > axis.input);
            if (axis.before > 0 || axis.after > 0 || spread) {
                return true;
            }
        }
        return false;
    }

    /** Positions of the result, per image. */
    long positions() {
        return product(Axis::output);
    }

    /** Positions of x, per image. */
    long area() {
        return product(Axis::input);
    }

    /** Cells of a window. */
    long cells() {
        return product(Axis::kernel);
    }

    private long product(ToLongFunction<Axis> size) {
        long product = 1;
        for (Axis axis : axes) {
            product = SizeMath.product("conv", product, size.applyAsLong(axis));
        }
        return product;
    }

    /** The struct ConvSizes of conv_direct.cuh. */
    long[] words() {
        long[] words = new long[HEAD + 6 * MOST_DIMS];
        long cells = cells();
        words[0] = axes.size();
        words[1] = batch;
        words[2] = groups;
        words[3] = channels;
        words[4] = outputs;
        words[5] = last ? 1 : transposed ? SizeMath.product("conv", outputs, cells) : cells;
        words[6] = transposed ? cells : SizeMath.product("conv", channels, cells);
        words[7] = last ? channels : 1;
        words[8] = last ? 1 : area();
        words[9] = last ? groups * channels : 1;
        words[10] = last ? 1 : positions();
        words[11] = last ? groups * outputs : 1;
        for (int i = 0; i < axes.size(); i++) {
            Axis axis = axes.get(i);
            long[] values = {axis.input, axis.output, axis.kernel, axis.stride, axis.before, axis.dilation};
            for (int field = 0; field < values.length; field++) {
                words[HEAD + field * MOST_DIMS + i] = values[field];
            }
        }
        return words;
    }
}
