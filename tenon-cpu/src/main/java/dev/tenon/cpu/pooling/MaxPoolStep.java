package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Order;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Maximum over windows of any type, exact, and where it is if that is asked for. */
final class MaxPoolStep extends PoolStep {
    private final DType dtype;
    private final long least;
    private final boolean columnMajor;
    /** The slot of the second output, or -1. */
    private final int indices;

    MaxPoolStep(Windows3 windows, boolean columnMajor, Node node, CpuLoweringContext context) {
        super("direct", windows, node, context);
        this.dtype = node.output().dtype();
        this.least = dtype.isFloat()
                ? Elements.fromDouble(dtype, Double.NEGATIVE_INFINITY)
                : Elements.fromLong(dtype, Elements.min(dtype));
        this.columnMajor = columnMajor;
        this.indices = node.outputs().size() > 1 ? context.slot(node.outputs().get(1)) : -1;
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    void row(CpuFrame frame, MemorySegment source, long plane, int startD, int startH, MemorySegment target, long to) {
        Windows3.Axis width = windows.width();
        for (int position = 0; position < width.output(); position++) {
            long best = best(source, plane, startD, startH, width.start(position));
            Elements.setBits(dtype, target, to + position, best < 0 ? least : Elements.bits(dtype, source, best));
            if (indices >= 0) {
                long index = best < 0 || !columnMajor ? best : plane + firstFastest(best - plane);
                frame.at(indices).set(Raw.I64, (to + position) * 8, index);
            }
        }
    }

    /** The first maximum of a window; -1 where it has padding alone. */
    private long best(MemorySegment source, long plane, int startD, int startH, int startW) {
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        int lastD = depth.lastCell(startD, depth.input());
        int lastH = height.lastCell(startH, height.input());
        int lastW = width.lastCell(startW, width.input());
        long best = -1;
        long bestKey = 0;
        for (int d = depth.firstCell(startD); d < lastD; d++) {
            long slab = plane + (long) (startD + d * depth.dilation()) * height.input() * width.input();
            for (int h = height.firstCell(startH); h < lastH; h++) {
                long line = slab + (long) (startH + h * height.dilation()) * width.input() + startW;
                for (int w = width.firstCell(startW); w < lastW; w++) {
                    long at = line + (long) w * width.dilation();
                    long key = Order.key(dtype, source, at);
                    if (best < 0 || key > bestKey) {
                        best = at;
                        bestKey = key;
                    }
                }
            }
        }
        return best;
    }

    /** The index with the first spatial dim fastest of what {@code flat} is with the last one fastest. */
    private long firstFastest(long flat) {
        int inW = windows.width().input();
        int inH = windows.height().input();
        int inD = windows.depth().input();
        long w = flat % inW;
        long h = flat / inW % inH;
        long d = flat / inW / inH;
        return d + inD * (h + inH * w);
    }
}
