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
    public void prepare(CpuFrame frame, RecurrentUnit unit) {}

    @Override
    public void project(CpuFrame frame, RecurrentUnit unit, Rows x, long bias, long to, long toStride) {
        MemorySegment memory = unit.memory();
        MemorySegment source = frame.at(shape.x());
        MemorySegment w = frame.at(shape.w());
        for (int row = 0; row < x.count(); row++) {
            long first = x.first() + row * x.stride();
            for (int gate = 0; gate < shape.rows(); gate++) {
                long filter = ((long) unit.direction() * shape.rows() + gate) * shape.features();
                double sum = shape.get(memory, bias, gate);
                for (int i = 0; i < shape.features(); i++) {
                    sum += Elements.getDouble(shape.dtype(), source, first + i)
                            * Elements.getDouble(shape.dtype(), w, filter + i);
                }
                shape.set(memory, to, row * toStride + gate, sum);
            }
        }
    }

    @Override
    public void recur(
            CpuFrame frame,
            RecurrentUnit unit,
            RecurrentCell.Part part,
            long states,
            boolean add,
            long to,
            long toStride) {
        MemorySegment memory = unit.memory();
        MemorySegment r = frame.at(shape.r());
        for (int row = 0; row < unit.count(); row++) {
            for (int gate = part.from(); gate < part.to(); gate++) {
                long filter = ((long) unit.direction() * shape.rows() + gate) * shape.hidden();
                long at = row * toStride + gate - part.from();
                double sum = add ? shape.get(memory, to, at) : 0;
                for (int i = 0; i < shape.hidden(); i++) {
                    sum += shape.get(memory, states, (long) row * shape.hidden() + i)
                            * Elements.getDouble(shape.dtype(), r, filter + i);
                }
                shape.set(memory, to, at, sum);
            }
        }
    }
}
