package dev.tenon.cpu.window;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import java.util.List;

/**
 * Windows that slide over up to three spatial dims; fewer are filled up with ones in front, so that one set of loops
 * serves 1-d, 2-d and 3-d. The cells of the window at position p lie at {@code p stride - before + i dilation}.
 */
public record Windows3(Axis depth, Axis height, Axis width) {
    public static final int MOST_AXES = 3;

    /** One spatial dim. {@code after} is the padding behind. */
    public record Axis(int input, int output, int kernel, int stride, int before, int after, int dilation) {
        static final Axis ONE = new Axis(1, 1, 1, 1, 0, 0, 1);

        /** Of sizes whose places all fit 32 bits: those of the padded input and of the last cell of any window. */
        public static Axis of(
                String op, long input, long output, long kernel, long stride, long before, long after, long dilation) {
            long reach = SizeMath.product(op, kernel - 1, dilation);
            SizeMath.toInt(op, SizeMath.sum(op, input, before, after, reach));
            SizeMath.toInt(op, SizeMath.sum(op, SizeMath.product(op, Math.max(0, output - 1), stride), reach));
            return new Axis(
                    SizeMath.toInt(op, input),
                    SizeMath.toInt(op, output),
                    SizeMath.toInt(op, kernel),
                    SizeMath.toInt(op, stride),
                    SizeMath.toInt(op, before),
                    SizeMath.toInt(op, after),
                    SizeMath.toInt(op, dilation));
        }

        /** Where the window at a position begins; negative in the padding. */
        public int start(int position) {
            return position * stride - before;
        }

        /** The first cell of a window that lies in the input. */
        public int firstCell(int start) {
            return start >= 0 ? 0 : Math.min(kernel, Math.ceilDiv(-start, dilation));
        }

        /** One past the last cell that lies before a limit: the end of the input, or of the padding behind it. */
        public int lastCell(int start, int limit) {
            return start >= limit ? 0 : Math.min(kernel, Math.ceilDiv(limit - start, dilation));
        }

        /**
         * Cells of a window that an average divides by: those in the input, or in the padded input, never what lies
         * past both.
         */
        public int cells(int start, boolean countPadding) {
            return countPadding ? lastCell(start, input + after) : lastCell(start, input) - firstCell(start);
        }

        /** The first position whose window has cell {@code cell} in the input, or {@link #output}. */
        public int firstPosition(int cell) {
            int offset = cell * dilation - before;
            return Math.min(output, offset >= 0 ? 0 : Math.ceilDiv(-offset, stride));
        }

        /** One past the last position whose window has that cell in the input; at least {@link #firstPosition}. */
        public int lastPosition(int cell) {
            int offset = cell * dilation - before;
            int last = offset >= input ? 0 : Math.min(output, Math.ceilDiv(input - offset, stride));
            return Math.max(firstPosition(cell), last);
        }

        public Axis positions() {
            return new Axis(output, output, 1, 1, 0, 0, 1);
        }

        public boolean isPointwise() {
            return kernel == 1 && stride == 1 && before == 0 && after == 0;
        }
    }

    /** @param strides of at most {@link #MOST_AXES} spatial dims */
    public static Windows3 of(
            Node node,
            Shape input,
            Shape output,
            List<Long> kernel,
            List<Long> strides,
            List<Long> before,
            List<Long> after,
            List<Long> dilations) {
        int axes = strides.size();
        if (axes > MOST_AXES) {
            throw new IllegalArgumentException(
                    node.op().mnemonic() + ": " + axes + " spatial dims are more than " + MOST_AXES);
        }
        Axis[] all = {Axis.ONE, Axis.ONE, Axis.ONE};
        Axis[] own = axes(node, input, output, kernel, strides, before, after, dilations);
        System.arraycopy(own, 0, all, MOST_AXES - axes, axes);
        return new Windows3(all[0], all[1], all[2]);
    }

    /** How windows slide along each spatial dim, of any number of them. */
    static Axis[] axes(
            Node node,
            Shape input,
            Shape output,
            List<Long> kernel,
            List<Long> strides,
            List<Long> before,
            List<Long> after,
            List<Long> dilations) {
        Axis[] all = new Axis[strides.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = Axis.of(
                    node.op().mnemonic(),
                    input.size(2 + i),
                    output.size(2 + i),
                    kernel.get(i),
                    strides.get(i),
                    before.get(i),
                    after.get(i),
                    dilations.get(i));
        }
        return all;
    }

    /** The sizes of a tensor's dims past the first two. */
    public static List<Long> kernel(Shape weights) {
        return java.util.Arrays.stream(weights.range(2, weights.rank()).sizes())
                .boxed()
                .toList();
    }

    /** Elements of an input plane. */
    public long inputArea() {
        return (long) depth.input() * height.input() * width.input();
    }

    /** Elements of an output plane. */
    public long outputArea() {
        return (long) depth.output() * height.output() * width.output();
    }

    /** Cells of a window. */
    public int cells() {
        return SizeMath.toInt("window", depth.kernel(), height.kernel(), width.kernel());
    }

    /** The positions of the windows as an input of its own, looked at element by element. */
    public Windows3 positions() {
        return new Windows3(depth.positions(), height.positions(), width.positions());
    }

    /** These windows over all dims but the last, along which each has one cell. */
    public Windows3 acrossLast() {
        return new Windows3(/* depth= */ Axis.ONE, /* height= */ depth, /* width= */ height);
    }

    /** Whether each position of the output is one of the input. */
    public boolean isPointwise() {
        return depth.isPointwise() && height.isPointwise() && width.isPointwise();
    }
}
