package dev.tenon.cpu.movement;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.movement.Trilu;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Keeps one triangle of each matrix, a row at a time. */
final class TriluStep extends LoopStep {
    private final Trilu op;
    private final DType dtype;
    private final long rows;
    private final long columns;
    private final int input;
    private final int output;

    TriluStep(Trilu op, Node node, CpuLoweringContext context) {
        Shape shape = node.output().shape();
        int rank = shape.rank();
        super("rows", shape.elements() == 0 ? 0 : shape.elements(0, rank - 1), shape.size(rank - 1));
        this.op = op;
        this.dtype = node.output().dtype();
        this.rows = shape.size(rank - 2);
        this.columns = shape.size(rank - 1);
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
        for (long row = from; row < to; row++) {
            long diagonal = row % rows + op.diagonal();
            long split = Math.clamp(op.upper() ? diagonal : diagonal + 1, 0, columns);
            long at = row * columns;
            long keepFrom = op.upper() ? split : 0;
            long keepTo = op.upper() ? columns : split;
            Raw.fillElements(dtype, target, at, keepFrom, 0);
            Raw.copyElements(dtype, source, at + keepFrom, target, at + keepFrom, keepTo - keepFrom);
            Raw.fillElements(dtype, target, at + keepTo, columns - keepTo, 0);
        }
    }
}
