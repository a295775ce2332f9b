package dev.tenon.cpu.reduce;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.LaneKernel;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Lanes;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Running sums and products of lanes; floats run in f64, each result rounded once. */
final class CumulativeStep extends LoopStep {
    /** Of a panel, and fewer that are worth a piece. */
    private static final int COLUMNS = 1024;

    private static final int LEAST_COLUMNS = 256;

    private final DType dtype;
    private final Lanes lanes;
    private final boolean sum;
    private final boolean columns;
    private final LaneKernel.Form form;
    private final boolean exclusive;
    private final boolean reverse;
    private final int input;
    private final int output;

    CumulativeStep(Cumulative op, Node node, CpuLoweringContext context) {
        Lanes lanes = new Lanes(node.output().shape(), op.axis());
        super("lanes", lanes.size == 0 ? 0 : lanes.count, lanes.size);
        this.dtype = node.output().dtype();
        this.lanes = lanes;
        this.sum = switch (op.fn()) {
            case SUM -> true;
            case PROD -> false;
        };
        this.columns = lanes.stride > 1 && !Raw.isPacked(dtype);
        this.form = new LaneKernel.Form(
                sum, op.exclusive(), op.reverse(), node.output().type().bytes() >= StridedCopy.STREAM_BYTES);
        this.exclusive = op.exclusive();
        this.reverse = op.reverse();
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment source = frame.at(input);
        MemorySegment target = frame.at(output);
        if (columns) {
            for (long lane = from; lane < to; ) {
                int n = (int) Math.min(Math.min(COLUMNS, to - lane), lanes.stride - lane % lanes.stride);
                panel(source, target, lanes.first(lane, lanes.size), n, frame.workspace(worker));
                lane += n;
            }
            return;
        }
        for (long lane = from; lane < to; lane++) {
            long first = lanes.first(lane, lanes.size);
            long start = reverse ? first + (lanes.size - 1) * lanes.stride : first;
            long step = reverse ? -lanes.stride : lanes.stride;
            if (dtype.isFloat()) {
                floats(source, target, start, step);
            } else {
                integers(source, target, start, step);
            }
        }
    }

    /** Lanes side by side, row by row. */
    private void panel(MemorySegment source, MemorySegment target, long first, int n, MemorySegment totals) {
        boolean floats = dtype.isFloat();
        for (int j = 0; j < n; j++) {
            if (floats) {
                totals.set(Convert.F64, 8L * j, sum ? 0 : 1);
            } else {
                totals.set(Raw.I64, 8L * j, sum ? 0 : 1);
            }
        }
        int done = dtype == DType.F32 ? byMachineCode(source, target, first, n, totals) : 0;
        for (long i = 0; i < lanes.size && done < n; i++) {
            long row = first + (reverse ? lanes.size - 1 - i : i) * lanes.stride;
            if (floats) {
                floatRow(source, target, row, done, n, totals);
            } else {
                integerRow(source, target, row, done, n, totals);
            }
        }
    }

    /** As many lanes as machine code does; returns how many. */
    private int byMachineCode(MemorySegment source, MemorySegment target, long first, int n, MemorySegment totals) {
        int taken = n / LaneKernel.LANES * LaneKernel.LANES;
        boolean outside = Segments.isNative(source) && Segments.isNative(target) && Segments.isNative(totals);
        if (taken == 0 || lanes.size == 0 || !outside || !MachineLoops.available()) {
            return 0;
        }
        Matrix x = new Matrix(source, 4 * first, 4 * lanes.stride);
        Matrix y = new Matrix(target, 4 * first, 4 * lanes.stride);
        LaneKernel.running(form, lanes.size, taken, x, y, new Place(totals, 0), MachineLoops.arguments());
        return taken;
    }

    private void floatRow(MemorySegment source, MemorySegment target, long row, int from, int n, MemorySegment totals) {
        for (int j = from; j < n; j++) {
            double total = totals.get(Convert.F64, 8L * j);
            double value = Elements.getDouble(dtype, source, row + j);
            double next = sum ? total + value : total * value;
            Elements.setDouble(dtype, target, row + j, exclusive ? total : next);
            totals.set(Convert.F64, 8L * j, next);
        }
    }

    private void integerRow(
            MemorySegment source, MemorySegment target, long row, int from, int n, MemorySegment totals) {
        for (int j = from; j < n; j++) {
            long total = totals.get(Raw.I64, 8L * j);
            long value = Elements.getLong(dtype, source, row + j);
            long next = sum ? total + value : total * value;
            Elements.setLong(dtype, target, row + j, exclusive ? total : next);
            totals.set(Raw.I64, 8L * j, next);
        }
    }

    @Override
    protected long leastUnits() {
        return columns ? Math.min(lanes.stride, LEAST_COLUMNS) : 1;
    }

    @Override
    public long workspaceBytes() {
        return columns ? 8L * COLUMNS : 0;
    }

    private void floats(MemorySegment source, MemorySegment target, long start, long step) {
        double total = sum ? 0 : 1;
        for (long i = 0; i < lanes.size; i++) {
            long at = start + i * step;
            double value = Elements.getDouble(dtype, source, at);
            double next = sum ? total + value : total * value;
            Elements.setDouble(dtype, target, at, exclusive ? total : next);
            total = next;
        }
    }

    private void integers(MemorySegment source, MemorySegment target, long start, long step) {
        long total = sum ? 0 : 1;
        for (long i = 0; i < lanes.size; i++) {
            long at = start + i * step;
            long value = Elements.getLong(dtype, source, at);
            long next = sum ? total + value : total * value;
            Elements.setLong(dtype, target, at, exclusive ? total : next);
            total = next;
        }
    }
}
