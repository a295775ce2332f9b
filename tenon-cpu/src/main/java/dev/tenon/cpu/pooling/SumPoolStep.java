package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.window.Windows3;
import java.lang.foreign.MemorySegment;

/** Averages and norms over windows; sums are kept in f64. */
final class SumPoolStep extends PoolStep {
    private final DType dtype;
    private final boolean average;
    private final boolean countPadding;
    private final long p;
    private final Loops loops = Loops.current();

    SumPoolStep(Pool op, Windows3 windows, Node node, CpuLoweringContext context) {
        super("direct", windows, node, context);
        this.dtype = node.output().dtype();
        this.average = op.fn() == PoolFn.AVERAGE;
        this.countPadding = op.countPadding();
        this.p = op.p();
    }

    @Override
    void row(CpuFrame frame, MemorySegment source, long plane, int startD, int startH, MemorySegment target, long to) {
        Windows3.Axis width = windows.width();
        int counted =
                windows.depth().cells(startD, countPadding) * windows.height().cells(startH, countPadding);
        for (int position = 0; position < width.output(); position++) {
            int startW = width.start(position);
            double sum = sum(source, plane, startD, startH, startW);
            double result = average ? average(sum, counted * width.cells(startW, countPadding)) : root(sum);
            Elements.setDouble(dtype, target, to + position, result);
        }
    }

    private static double average(double sum, int cells) {
        return cells <= 0 ? 0 : sum / cells;
    }

    private double root(double sum) {
        return p == 1 ? sum : p == 2 ? Math.sqrt(sum) : Math.pow(sum, 1.0 / (double) p);
    }

    private double sum(MemorySegment source, long plane, int startD, int startH, int startW) {
        Windows3.Axis depth = windows.depth();
        Windows3.Axis height = windows.height();
        Windows3.Axis width = windows.width();
        int lastD = depth.lastCell(startD, depth.input());
        int lastH = height.lastCell(startH, height.input());
        int firstW = width.firstCell(startW);
        int count = width.lastCell(startW, width.input()) - firstW;
        double sum = 0;
        int firstH = height.firstCell(startH);
        boolean whole = count == width.input() && width.dilation() == 1 && height.dilation() == 1;
        for (int d = depth.firstCell(startD); d < lastD; d++) {
            long slab = plane + (long) (startD + d * depth.dilation()) * height.input() * width.input();
            if (whole) { // rows that follow one another
                sum += sumLine(source, slab + (long) (startH + firstH) * count, 1, Math.max(0, lastH - firstH) * count);
                continue;
            }
            for (int h = firstH; h < lastH; h++) {
                long line = slab + (long) (startH + h * height.dilation()) * width.input() + startW;
                sum += sumLine(source, line + (long) firstW * width.dilation(), width.dilation(), count);
            }
        }
        return sum;
    }

    private double sumLine(MemorySegment source, long first, int step, int count) {
        if (average && dtype == DType.F32 && step == 1) {
            return loops.sum(source, first * 4, count);
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            double value = Elements.getDouble(dtype, source, first + (long) i * step);
            sum += average ? value : power(Math.abs(value));
        }
        return sum;
    }

    private double power(double value) {
        return p == 1 ? value : p == 2 ? value * value : Math.pow(value, (double) p);
    }
}
