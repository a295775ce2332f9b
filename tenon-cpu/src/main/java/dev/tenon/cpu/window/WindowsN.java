package dev.tenon.cpu.window;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import java.util.List;

/** Windows that slide over any number of spatial dims, looked at a position at a time. */
public final class WindowsN {
    private final Windows3.Axis[] axes;
    private final int cells;

    /** As {@link Windows3#of}. */
    public WindowsN(
            Node node,
            Shape input,
            Shape output,
            List<Long> kernel,
            List<Long> strides,
            List<Long> before,
            List<Long> after,
            List<Long> dilations) {
        axes = Windows3.axes(node, input, output, kernel, strides, before, after, dilations);
        long all = 1;
        for (long length : kernel) {
            all = SizeMath.product("window", all, length);
        }
        cells = SizeMath.toInt("window", all);
    }

    /** Cells of a window. */
    public int cells() {
        return cells;
    }

    /** The cells of one window that lie in the input, in order. Used by one thread. */
    public final class Places {
        public final int[] cells = new int[WindowsN.this.cells];
        /** Where in a plane each is. */
        public final long[] elements = new long[WindowsN.this.cells];

        public int count;
        /** Cells in the padded input. */
        public int padded;

        private final int[] at = new int[axes.length];

        /** Finds the cells of the window at a position, and the elements of the input that they lie on. */
        public void ofWindow(long position) {
            locate(position, false);
            count = 0;
            padded = 0;
            for (int cell = 0; cell < WindowsN.this.cells; cell++) {
                int rest = cell;
                long element = 0;
                long stride = 1;
                boolean inside = true;
                boolean counts = true;
                for (int i = axes.length - 1; i >= 0; i--) {
                    Windows3.Axis axis = axes[i];
                    int place = axis.start(at[i]) + rest % axis.kernel() * axis.dilation();
                    rest /= axis.kernel();
                    inside &= place >= 0 && place < axis.input();
                    counts &= place < axis.input() + axis.after();
                    element += place * stride;
                    stride *= axis.input();
                }
                padded += counts ? 1 : 0;
                add(inside, cell, element);
            }
        }

        /** Finds the windows that have a cell on an element of the input: which cell, and the window's position. */
        public void ofElement(long element) {
            locate(element, true);
            count = 0;
            for (int cell = 0; cell < WindowsN.this.cells; cell++) {
                int rest = cell;
                long position = 0;
                long stride = 1;
                boolean inside = true;
                for (int i = axes.length - 1; i >= 0; i--) {
                    Windows3.Axis axis = axes[i];
                    int offset = at[i] + axis.before() - rest % axis.kernel() * axis.dilation();
                    rest /= axis.kernel();
                    inside &= offset >= 0 && offset % axis.stride() == 0 && offset / axis.stride() < axis.output();
                    position += offset / axis.stride() * stride;
                    stride *= axis.output();
                }
                add(inside, cell, position);
            }
        }

        private void add(boolean inside, int cell, long element) {
            if (inside) {
                cells[count] = cell;
                elements[count++] = element;
            }
        }

        private void locate(long flat, boolean input) {
            long rest = flat;
            for (int i = axes.length - 1; i >= 0; i--) {
                int size = input ? axes[i].input() : axes[i].output();
                at[i] = (int) (rest % size);
                rest /= size;
            }
        }
    }
}
