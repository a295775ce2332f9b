package dev.tenon.cpu.recurrent;

import dev.tenon.core.ir.Elements;
import dev.tenon.cpu.step.CpuFrame;
import java.lang.foreign.MemorySegment;

/** The products of a recurrent layer of any type, a sum at a time in f64. */
final class DirectRecurrentProducts implements RecurrentProducts {
    private final RecurrentShape shape;

    DirectRecurrentProducts(RecurrentShape shape) {
        this.shape = shape;
    }

    @Override
    public String tier() {
        return "direct";
    }

    @Override
    public long workspaceBytes() {
        return 0;
    }

    @Override
    public void prepare(CpuFrame frame, int direction, MemorySegment workspace, long own) {}

    @Override
    public void project(
            CpuFrame frame,
            int direction,
            int rows,
            long xIndex,
            long xStride,
            MemorySegment workspace,
            long own,
            long bias,
            long to,
            long toStride) {
        MemorySegment x = frame.at(shape.x());
        MemorySegment w = frame.at(shape.w());
        for (int row = 0; row < rows; row++) {
            for (int gate = 0; gate < shape.rows(); gate++) {
                long filter = ((long) direction * shape.rows() + gate) * shape.features();
                double sum = shape.get(workspace, bias, gate);
                for (int i = 0; i < shape.features(); i++) {
                    sum += Elements.getDouble(shape.dtype(), x, xIndex + row * xStride + i)
                            * Elements.getDouble(shape.dtype(), w, filter + i);
                }
                shape.set(workspace, to, row * toStride + gate, sum);
            }
        }
    }

    @Override
    public void recur(
            CpuFrame frame,
            int direction,
            RecurrentCell.Part part,
            int rows,
            MemorySegment workspace,
            long own,
            long states,
            long statesStride,
            boolean add,
            long to,
            long toStride) {
        MemorySegment r = frame.at(shape.r());
        for (int row = 0; row < rows; row++) {
            for (int gate = part.from(); gate < part.to(); gate++) {
                long filter = ((long) direction * shape.rows() + gate) * shape.hidden();
                long at = row * toStride + gate - part.from();
                double sum = add ? shape.get(workspace, to, at) : 0;
                for (int i = 0; i < shape.hidden(); i++) {
                    sum += shape.get(workspace, states, row * statesStride + i)
                            * Elements.getDouble(shape.dtype(), r, filter + i);
                }
                shape.set(workspace, to, at, sum);
            }
        }
    }
}
