package dev.tenon.cpu;

import dev.tenon.core.ir.Node;
import java.lang.foreign.MemorySegment;

/** Maximum over windows of f32. */
final class MaxPoolF32Step extends PoolStep {
    MaxPoolF32Step(Windows3 windows, Node node, LoweringContext context) {
        super("direct f32", windows, node, context);
    }

    @Override
    void row(Frame frame, MemorySegment source, long plane, int startD, int startH, MemorySegment target, long to) {
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        int firstD = depth.firstCell(startD);
        int lastD = depth.lastCell(startD, depth.input());
        int firstH = height.firstCell(startH);
        int lastH = height.lastCell(startH, height.input());
        for (int position = 0; position < width.output(); position++) {
            int startW = width.start(position);
            int firstW = width.firstCell(startW);
            int lastW = width.lastCell(startW, width.input());
            float best = Float.NEGATIVE_INFINITY;
            for (int d = firstD; d < lastD; d++) {
                long slab = plane + (long) (startD + d * depth.dilation()) * height.input() * width.input();
                for (int h = firstH; h < lastH; h++) {
                    long line = slab + (long) (startH + h * height.dilation()) * width.input() + startW;
                    for (int w = firstW; w < lastW; w++) {
                        best = Math.max(best, source.get(Raw.F32, (line + (long) w * width.dilation()) * 4));
                    }
                }
            }
            target.set(Raw.F32, (to + position) * 4, best);
        }
    }
}
