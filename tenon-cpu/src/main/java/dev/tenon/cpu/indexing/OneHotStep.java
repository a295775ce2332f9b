package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.op.indexing.OneHot;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;

/** Fills with one value and sets another where the indices say; a unit is an index of the dims before the new axis. */
final class OneHotStep extends LoopStep {
    private final DType dtype;
    private final Indices indices;
    private final long depth;
    private final long inner;
    private final int places;
    private final int values;
    private final int output;

    OneHotStep(OneHot op, Node node, CpuLoweringContext context) {
        Shape shape = node.output().shape();
        int axis = shape.axis(op.axis());
        long inner = shape.elements(axis + 1, shape.rank());
        super("rows", op.depth() * inner == 0 ? 0 : shape.elements(0, axis), op.depth() * inner);
        this.dtype = node.output().dtype();
        this.indices = new Indices(node.input(0).dtype(), op.mnemonic(), node.name());
        this.depth = op.depth();
        this.inner = inner;
        this.places = context.slot(node.input(0));
        this.values = context.slot(node.input(1));
        this.output = context.slot(node.output());
    }

    @Override
    public boolean isSerial() {
        return Raw.isPacked(dtype);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment at = frame.at(places);
        MemorySegment target = frame.at(output);
        long off = Elements.bits(dtype, frame.at(values), 0);
        long on = Elements.bits(dtype, frame.at(values), 1);
        long row = depth * inner;
        Raw.fillElements(dtype, target, from * row, (to - from) * row, off);
        for (long unit = from; unit < to; unit++) {
            for (long i = 0; i < inner; i++) {
                long index = indices.get(at, unit * inner + i);
                if (index >= -depth && index < depth) {
                    long hot = index < 0 ? index + depth : index;
                    Elements.setBits(dtype, target, unit * row + hot * inner + i, on);
                }
            }
        }
    }
}
