package dev.tenon.cpu.search;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.searching.BoxSelection;
import dev.tenon.cpu.loops.Raw;
import dev.tenon.cpu.reduce.Heap;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;

/**
 * Greedy selection of boxes: workers share the lanes (an image and a class each), and each lane writes into a part of
 * the result of its own; the parts are then moved together. A heap gives the scores as far as they are asked for.
 */
final class BoxSelectionStep implements CpuStep {
    private static final int BOXES = 0;
    private static final int SCORES = 1;
    private static final int OVERLAP = 2;
    private static final int LEAST = 3;
    /** Of a selected box its lower and higher corner and its area. */
    private static final int KEPT = 5;

    private static final long KEPT_BYTES = KEPT * Double.BYTES;
    private static final int ROW = 3;

    private final BoxSelection op;
    private final DType dtype;
    private final int[] inputs;
    private final int selected;
    private final int number;
    private final long lanes;
    private final long classes;
    private final long boxes;
    private final long most;
    private final long keptAt;
    private final long countsAt;
    private final RangeTask select = this::select;

    BoxSelectionStep(BoxSelection op, Node node, CpuLoweringContext context) {
        Shape scores = node.input(SCORES).shape();
        this.op = op;
        this.dtype = node.input(0).dtype();
        this.inputs = node.inputs().stream().mapToInt(context::slot).toArray();
        this.selected = context.slot(node.outputs().get(0));
        this.number = context.slot(node.outputs().get(1));
        this.lanes = scores.elements(0, 2);
        this.classes = scores.size(1);
        this.boxes = scores.size(2);
        this.most = Math.min(op.most(), boxes);
        this.keptAt = SizeMath.product("box_selection", boxes, Heap.ENTRY);
        this.countsAt = SizeMath.sum("box_selection", keptAt, SizeMath.product("box_selection", most, KEPT_BYTES));
    }

    @Override
    public String tier() {
        return "lanes, by a heap";
    }

    @Override
    public long workspaceBytes() {
        return SizeMath.sum("box_selection", countsAt, SizeMath.product("box_selection", lanes, Long.BYTES));
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(select, lanes, LoopStep.grain(SizeMath.estimate(boxes, 8)));
        MemorySegment result = frame.at(selected);
        long found = 0;
        for (long lane = 0; lane < lanes; lane++) {
            long own = frame.workspace(0).get(Raw.I64, countsAt + lane * Long.BYTES);
            long row = ROW * Long.BYTES;
            MemorySegment.copy(result, lane * most * row, result, found * row, own * row);
            found += own;
        }
        Raw.fillElements(DType.I64, result, ROW * found, ROW * (lanes * most - found), 0);
        frame.at(number).set(Raw.I64, 0, found);
    }

    private void select(CpuFrame frame, long from, long to, int worker) {
        MemorySegment space = frame.workspace(worker);
        MemorySegment result = frame.at(selected);
        double overlap = Doubles.get(dtype, frame.at(inputs[OVERLAP]), 0);
        double[] box = new double[KEPT];
        for (long lane = from; lane < to; lane++) {
            long image = lane / classes;
            long left = candidates(frame, lane, space);
            long count = 0;
            for (; left > 0 && count < most; left--) {
                // the heap has the worst on top: what it holds are complements
                long index = ~Heap.topIndex(space);
                Heap.removeTop(space, left);
                load(frame.at(inputs[BOXES]), image * boxes + index, box);
                if (isFree(space, count, box, overlap)) {
                    for (int i = 0; i < KEPT; i++) {
                        space.set(Raw.F64, keptAt + count * KEPT_BYTES + (long) i * Double.BYTES, box[i]);
                    }
                    long row = ROW * (lane * most + count++) * Long.BYTES;
                    result.set(Raw.I64, row, image);
                    result.set(Raw.I64, row + Long.BYTES, lane % classes);
                    result.set(Raw.I64, row + 2 * Long.BYTES, index);
                }
            }
            frame.workspace(0).set(Raw.I64, countsAt + lane * Long.BYTES, count);
        }
    }

    /** Makes a heap of the boxes whose score is high enough, the best on top; returns how many there are. */
    private long candidates(CpuFrame frame, long lane, MemorySegment heap) {
        MemorySegment scores = frame.at(inputs[SCORES]);
        double least = Doubles.get(dtype, frame.at(inputs[LEAST]), 0);
        long count = 0;
        for (long i = 0; i < boxes; i++) {
            double score = Doubles.get(dtype, scores, lane * boxes + i);
            if (score > least) {
                long bits = Double.doubleToRawLongBits(score);
                Heap.set(heap, count++, ~(bits ^ (bits >> 63 & Long.MAX_VALUE)), ~i);
            }
        }
        Heap.make(heap, count);
        return count;
    }

    private void load(MemorySegment all, long index, double[] box) {
        double a = Doubles.get(dtype, all, 4 * index);
        double b = Doubles.get(dtype, all, 4 * index + 1);
        double c = Doubles.get(dtype, all, 4 * index + 2);
        double d = Doubles.get(dtype, all, 4 * index + 3);
        box[0] = op.center() ? b - d / 2 : Math.min(a, c);
        box[1] = op.center() ? a - c / 2 : Math.min(b, d);
        box[2] = op.center() ? b + d / 2 : Math.max(a, c);
        box[3] = op.center() ? a + c / 2 : Math.max(b, d);
        box[4] = (box[2] - box[0]) * (box[3] - box[1]);
    }

    /** Whether no box that is kept overlaps another one by too much. */
    private boolean isFree(MemorySegment space, long count, double[] box, double most) {
        double lowY = box[0];
        double lowX = box[1];
        double highY = box[2];
        double highX = box[3];
        double area = box[4];
        long end = keptAt + count * KEPT_BYTES;
        for (long at = keptAt; at < end; at += KEPT_BYTES) {
            double height = Math.min(highY, space.get(Raw.F64, at + 16)) - Math.max(lowY, space.get(Raw.F64, at));
            double width = Math.min(highX, space.get(Raw.F64, at + 24)) - Math.max(lowX, space.get(Raw.F64, at + 8));
            double other = space.get(Raw.F64, at + 32);
            double overlap = 0;
            if (height > 0 && width > 0 && area > 0 && other > 0) {
                double shared = height * width;
                overlap = shared / (area + other - shared);
            }
            if (overlap > most) {
                return false;
            }
        }
        return true;
    }
}
