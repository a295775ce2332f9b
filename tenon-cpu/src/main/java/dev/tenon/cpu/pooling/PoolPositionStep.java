package dev.tenon.cpu.pooling;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Order;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.window.WindowsN;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Pools over any number of dims: a unit is a position of the output's planes, whose cells are found once for all of
 * them.
 */
final class PoolPositionStep extends LoopStep {
    private final WindowsN windows;
    /** What an average or a norm is of; null for maxima. */
    private final @Nullable Pool sums;

    private final boolean columnMajor;
    private final DType dtype;
    private final long[] sizes;
    private final long planes;
    private final long areaIn;
    private final long areaOut;
    private final int input;
    private final int output;
    private final int indices;

    private PoolPositionStep(
            WindowsN windows, @Nullable Pool sums, boolean columnMajor, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape y = node.outputs().getFirst().shape();
        super(
                "positions over " + (y.rank() - 2) + " dims",
                y.elements(2, y.rank()),
                SizeMath.estimate(Math.max(1, x.elements(0, 2)), windows.cells()));
        this.windows = windows;
        this.sums = sums;
        this.columnMajor = columnMajor;
        this.dtype = node.input(0).dtype();
        this.sizes = x.range(2, x.rank()).sizes();
        this.planes = x.elements(0, 2);
        this.areaIn = x.elements(2, x.rank());
        this.areaOut = y.elements(2, y.rank());
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.outputs().getFirst());
        this.indices = node.outputs().size() > 1 ? context.slot(node.outputs().get(1)) : -1;
    }

    static PoolPositionStep of(Pool op, WindowsN windows, Node node, CpuLoweringContext context) {
        return new PoolPositionStep(windows, op.fn() == PoolFn.MAX ? null : op, false, node, context);
    }

    static PoolPositionStep ofIndices(boolean columnMajor, WindowsN windows, Node node, CpuLoweringContext context) {
        return new PoolPositionStep(windows, null, columnMajor, node, context);
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        WindowsN.Places places = windows.new Places();
        MemorySegment x = frame.at(input);
        MemorySegment y = frame.at(output);
        for (long position = from; position < to; position++) {
            places.ofWindow(position);
            for (long plane = 0; plane < planes; plane++) {
                long target = plane * areaOut + position;
                if (sums != null) {
                    Doubles.set(dtype, y, target, sum(sums, x, plane * areaIn, places));
                    continue;
                }
                long best = best(x, plane * areaIn, places);
                Elements.setBits(dtype, y, target, Elements.bits(dtype, x, plane * areaIn + best));
                if (indices >= 0) {
                    long index = plane * areaIn + (columnMajor ? firstFastest(best) : best);
                    frame.at(indices).set(Raw.I64, target * Long.BYTES, index);
                }
            }
        }
    }

    /** The first maximum of a window, or its first NaN. */
    private long best(MemorySegment x, long plane, WindowsN.Places places) {
        long best = places.elements[0];
        long most = Order.key(dtype, x, plane + best);
        for (int i = 1; i < places.count; i++) {
            long key = Order.key(dtype, x, plane + places.elements[i]);
            if (key > most) {
                most = key;
                best = places.elements[i];
            }
        }
        return best;
    }

    private double sum(Pool op, MemorySegment x, long plane, WindowsN.Places places) {
        boolean average = op.fn() == PoolFn.AVERAGE;
        double p = (double) op.p();
        double sum = 0;
        for (int i = 0; i < places.count; i++) {
            double value = Doubles.get(dtype, x, plane + places.elements[i]);
            sum += average ? value : Math.pow(Math.abs(value), p);
        }
        if (average) {
            return sum / (op.countPadding() ? places.padded : places.count);
        }
        return op.p() == 2 ? Math.sqrt(sum) : Math.pow(sum, 1 / p);
    }

    /** The index with the first dim fastest of what {@code flat} is with the last one fastest. */
    private long firstFastest(long flat) {
        long index = 0;
        long rest = flat;
        for (int axis = sizes.length - 1; axis >= 0; axis--) {
            index = index * sizes[axis] + rest % sizes[axis];
            rest /= sizes[axis];
        }
        return index;
    }
}
