package dev.tenon.cpu.convolution;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/**
 * Sums again what a product of f32 matrices made NaN: the product has zeros where windows meet padding, which weights
 * that are not finite turn into NaN, and a convolution leaves those cells out.
 */
record Mending(ConvShape shape) {
    /** Whether a convolution's sums may need it. */
    static boolean isNeeded(Windows3 windows, Value weights) {
        boolean padded = isPadded(windows.depth()) || isPadded(windows.height()) || isPadded(windows.width());
        return padded && !FiniteWeights.isFinite(weights);
    }

    private static boolean isPadded(Windows3.Axis axis) {
        return axis.before() > 0 || axis.after() > 0;
    }

    /**
     * Looks at neighbouring results of a channel.
     *
     * @param x the first element of the group's images in the source
     * @param w the first element of the channel's weights
     * @param y the first result
     * @param position of the first result
     */
    void mend(
            MemorySegment source,
            long x,
            MemorySegment filters,
            long w,
            MemorySegment target,
            long y,
            long position,
            int count) {
        for (int i = 0; i < count; i++) {
            if (Float.isNaN(target.get(Raw.F32, (y + i) * 4))) {
                target.set(Raw.F32, (y + i) * 4, (float) sum(source, x, filters, w, position + i));
            }
        }
    }

    private double sum(MemorySegment source, long x, MemorySegment filters, long w, long position) {
        Windows3.Axis depth = shape.windows().depth();
        Windows3.Axis height = shape.windows().height();
        Windows3.Axis width = shape.windows().width();
        long line = position / width.output();
        int startD = depth.start((int) (line / height.output()));
        int startH = height.start((int) (line % height.output()));
        int startW = width.start((int) (position % width.output()));
        long area = shape.windows().inputArea();
        double sum = 0;
        long weight = w;
        for (int channel = 0; channel < shape.channelsIn(); channel++) {
            for (int cell = 0; cell < shape.windows().cells(); cell++, weight++) {
                int across = cell / width.kernel();
                long d = startD + (long) (across / height.kernel()) * depth.dilation();
                long h = startH + (long) (across % height.kernel()) * height.dilation();
                long v = startW + (long) (cell % width.kernel()) * width.dilation();
                if (isInside(d, depth) && isInside(h, height) && isInside(v, width)) {
                    long at = x + channel * area + (d * height.input() + h) * width.input() + v;
                    sum += (double) source.get(Raw.F32, at * 4) * filters.get(Raw.F32, weight * 4);
                }
            }
        }
        return sum;
    }

    private static boolean isInside(long place, Windows3.Axis axis) {
        return place >= 0 && place < axis.input();
    }
}
