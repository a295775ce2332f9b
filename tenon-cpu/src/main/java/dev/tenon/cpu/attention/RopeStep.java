package dev.tenon.cpu.attention;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.Rope;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Layout;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Turns pairs of elements of each row by its angles; rows of a second last dim that are not turned are copied. */
final class RopeStep implements CpuStep, RangeTask {
    private final boolean interleaved;
    private final DType dtype;
    private final DType angleType;
    private final long rows;
    /** Of the second last dim. */
    private final long all;
    /** How many of those are turned. */
    private final long turned;

    private final int size;
    private final int pairs;
    private final Broadcast angles;
    /** x, cosines, sines, result. */
    private final int[] slots;

    private final int width;
    private final long cosAt;
    private final long sinAt;
    private final long workspaceBytes;

    RopeStep(Rope op, Node node, CpuLoweringContext context) {
        Shape x = node.input(0).shape();
        long last = x.size(x.rank() - 1);
        interleaved = op.interleaved();
        dtype = node.input(0).dtype();
        angleType = node.input(1).dtype();
        rows = last == 0 ? 0 : x.elements() / last;
        all = op.rows() == 0 ? 1 : x.size(x.rank() - 2);
        turned = op.rows() == 0 ? 1 : op.rows();
        size = SizeMath.toInt("rope", last);
        pairs = SizeMath.toInt("rope", (op.rotaryDim() == 0 ? last : op.rotaryDim()) / 2);
        angles = Broadcast.of(
                op.angles(x), List.of(node.input(1).shape(), node.input(2).shape()));
        slots = new int[] {
            context.slot(node.input(0)),
            context.slot(node.input(1)),
            context.slot(node.input(2)),
            context.slot(node.output())
        };
        width = TileKind.of(dtype).bytes();
        Layout layout = new Layout();
        layout.take((long) width * size);
        cosAt = layout.take((long) width * pairs);
        sinAt = layout.take((long) width * pairs);
        workspaceBytes = layout.bytes();
    }

    @Override
    public void run(CpuFrame frame) {
        frame.parallel(this, rows, Math.max(1, 4096 / Math.max(1, size)));
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        MemorySegment row = frame.workspace(worker);
        for (long r = from; r < to; r++) {
            Convert.load(dtype, frame.at(slots[0]), r * size, row, 0, size);
            if (pairs > 0 && r % all < turned) {
                long angle = r / all * turned + r % all;
                load(frame.at(slots[1]), 0, angle, row, cosAt);
                load(frame.at(slots[2]), 1, angle, row, sinAt);
                if (dtype == DType.F64) {
                    turnDoubles(row);
                } else {
                    turn(row);
                }
            }
            Convert.store(dtype, row, 0, frame.at(slots[3]), r * size, size);
        }
    }

    private void load(MemorySegment from, int value, long row, MemorySegment to, long offset) {
        long first = angles.at(value, row * pairs);
        if (pairs > 1 && angles.at(value, row * pairs + 1) == first) {
            for (int i = 0; i < pairs; i++) {
                Convert.load(angleType, from, first, to, offset + (long) i * width, 1);
            }
        } else {
            Convert.load(angleType, from, first, to, offset, pairs);
        }
    }

    private void turn(MemorySegment row) {
        long second = interleaved ? 4 : 4L * pairs;
        long step = interleaved ? 8 : 4;
        for (int i = 0; i < pairs; i++) {
            float a = row.get(Loops.F32, step * i);
            float b = row.get(Loops.F32, step * i + second);
            float c = row.get(Loops.F32, cosAt + 4L * i);
            float s = row.get(Loops.F32, sinAt + 4L * i);
            row.set(Loops.F32, step * i, a * c - b * s);
            row.set(Loops.F32, step * i + second, a * s + b * c);
        }
    }

    private void turnDoubles(MemorySegment row) {
        long second = interleaved ? 8 : 8L * pairs;
        long step = interleaved ? 16 : 8;
        for (int i = 0; i < pairs; i++) {
            double a = row.get(Convert.F64, step * i);
            double b = row.get(Convert.F64, step * i + second);
            double c = row.get(Convert.F64, cosAt + 8L * i);
            double s = row.get(Convert.F64, sinAt + 8L * i);
            row.set(Convert.F64, step * i, a * c - b * s);
            row.set(Convert.F64, step * i + second, a * s + b * c);
        }
    }

    @Override
    public String tier() {
        return "rows";
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }
}
