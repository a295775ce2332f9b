package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Value;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/**
 * Walks sequences over time. What the input adds to all gates is one matrix product for a stretch of times; then each
 * time adds what the state adds, and the cell makes the next state. A unit is one direction of a block of sequences: no
 * two meet, so none waits for another.
 */
final class RecurrentStep extends LoopStep {
    /** Bytes of the input's products at a time: they are used up before they leave the second-level cache. */
    private static final long STRETCH_BYTES = 512 * 1024;

    private final RecurrentShape shape;
    private final RecurrentCell cell;
    private final RecurrentProducts products;
    private final int block;
    private final int stretch;
    private final int y;
    /** Slots of the final states: hidden ones, then the cells' own or -1. */
    private final int finalHidden;

    private final int finalCell;

    RecurrentStep(
            RecurrentShape shape,
            RecurrentCell cell,
            RecurrentProducts products,
            Node node,
            CpuLoweringContext context) {
        int block = Math.clamp(
                Math.ceilDiv((long) shape.batch() * shape.directions(), context.threads()),
                1,
                Math.max(1, shape.batch()));
        super(
                "recurrent, " + products.tier(),
                (long) shape.directions() * Math.ceilDiv(shape.batch(), block),
                (long) shape.time() * block * shape.rows() * (shape.hidden() + shape.features()) / 8);
        this.shape = shape;
        this.cell = cell;
        this.products = products;
        this.block = block;
        long step = Math.max(1, (long) block * shape.rows() * shape.width());
        this.stretch = Math.clamp(STRETCH_BYTES / step, 1, Math.max(1, shape.time()));
        this.y = context.slot(node.outputs().get(0));
        this.finalHidden = context.slot(node.outputs().get(1));
        Value last = node.outputs().getLast();
        this.finalCell = node.outputs().size() > 2 ? context.slot(last) : -1;
    }

    private long statesOffset() {
        return (long) stretch * block * shape.rows() * shape.width();
    }

    private long cellsOffset() {
        return statesOffset() + (long) block * shape.hidden() * shape.width();
    }

    private long workOffset() {
        return cellsOffset() + (long) block * shape.hidden() * shape.width();
    }

    private long biasOffset() {
        return workOffset() + (long) block * cell.workElements() * shape.width();
    }

    private long ownOffset() {
        return Math.ceilDiv(biasOffset() + (long) shape.rows() * shape.width(), 64) * 64;
    }

    @Override
    public long workspaceBytes() {
        return ownOffset() + products.workspaceBytes();
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        int blocks = Math.ceilDiv(shape.batch(), block);
        for (long index = from; index < to; index++) {
            int first = (int) (index % blocks) * block;
            RecurrentUnit unit = new RecurrentUnit(
                    (int) (index / blocks),
                    first,
                    Math.min(block, shape.batch() - first),
                    frame.workspace(worker),
                    statesOffset(),
                    cellsOffset(),
                    workOffset(),
                    ownOffset());
            unit(frame, unit);
        }
    }

    private void unit(CpuFrame frame, RecurrentUnit unit) {
        MemorySegment memory = unit.memory();
        int d = unit.direction();
        products.prepare(frame, unit);
        for (int gate = 0; gate < shape.rows(); gate++) {
            shape.set(memory, biasOffset(), gate, bias(frame, d, gate));
        }
        load(frame, shape.initialHidden(), unit, unit.states());
        load(frame, shape.initialCell(), unit, unit.cells());
        boolean backwards = shape.isBackwards(d);
        for (int done = 0; done < shape.time(); done += stretch) {
            int count = Math.min(stretch, shape.time() - done);
            int first = backwards ? shape.time() - done - count : done;
            project(frame, unit, first, count);
            for (int i = 0; i < count; i++) {
                int t = backwards ? first + count - 1 - i : first + i;
                long at = (long) (t - first) * unit.count() * shape.rows() * shape.width();
                cell.step(frame, products, unit, at, t);
                storeY(frame, unit, t);
            }
        }
        store(frame, finalHidden, unit, unit.states());
        if (finalCell >= 0) {
            store(frame, finalCell, unit, unit.cells());
        }
    }

    /** What does not depend on the state: the input's bias, and the recurrent one where it is just added. */
    private double bias(CpuFrame frame, int d, int gate) {
        if (shape.bias() < 0) {
            return 0;
        }
        MemorySegment biases = frame.at(shape.bias());
        long first = 2L * d * shape.rows() + gate;
        double own = Elements.getDouble(shape.dtype(), biases, first);
        return gate < cell.separateBias() ? own + Elements.getDouble(shape.dtype(), biases, first + shape.rows()) : own;
    }

    /** The input's products for the times [first, first + count): of rows that lie evenly in x at once. */
    private void project(CpuFrame frame, RecurrentUnit unit, int first, int count) {
        long row = (long) shape.rows() * shape.width();
        if (shape.batchFirst()) {
            for (int b = 0; b < unit.count(); b++) {
                RecurrentProducts.Rows x =
                        new RecurrentProducts.Rows(count, shape.inX(unit.first() + b, first), shape.features());
                products.project(frame, unit, x, biasOffset(), b * row, (long) unit.count() * shape.rows());
            }
            return;
        }
        boolean whole = unit.count() == shape.batch();
        for (int t = 0; t < (whole ? 1 : count); t++) {
            RecurrentProducts.Rows x = new RecurrentProducts.Rows(
                    whole ? count * unit.count() : unit.count(), shape.inX(unit.first(), first + t), shape.features());
            products.project(frame, unit, x, biasOffset(), (long) t * unit.count() * row, shape.rows());
        }
    }

    private void load(CpuFrame frame, int slot, RecurrentUnit unit, long to) {
        for (int b = 0; b < unit.count(); b++) {
            long from = shape.inState(unit.direction(), unit.first() + b);
            for (int i = 0; i < shape.hidden(); i++) {
                double value = slot < 0 ? 0 : Elements.getDouble(shape.dtype(), frame.at(slot), from + i);
                shape.set(unit.memory(), to, (long) b * shape.hidden() + i, value);
            }
        }
    }

    private void store(CpuFrame frame, int slot, RecurrentUnit unit, long from) {
        for (int b = 0; b < unit.count(); b++) {
            long to = shape.inState(unit.direction(), unit.first() + b);
            for (int i = 0; i < shape.hidden(); i++) {
                double value = shape.get(unit.memory(), from, (long) b * shape.hidden() + i);
                Elements.setDouble(shape.dtype(), frame.at(slot), to + i, value);
            }
        }
    }

    private void storeY(CpuFrame frame, RecurrentUnit unit, int t) {
        for (int b = 0; b < unit.count(); b++) {
            boolean goesOn = cell.goesOn(frame, unit.first() + b, t);
            long to = shape.inY(unit.direction(), unit.first() + b, t);
            for (int i = 0; i < shape.hidden(); i++) {
                double value = goesOn ? shape.get(unit.memory(), unit.states(), (long) b * shape.hidden() + i) : 0;
                Elements.setDouble(shape.dtype(), frame.at(y), to + i, value);
            }
        }
    }
}
