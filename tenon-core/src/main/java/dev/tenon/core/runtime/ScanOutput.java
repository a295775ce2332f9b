package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.error.DataException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.control.Loop;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.tensor.Tensor;
import java.lang.foreign.MemorySegment;

/**
 * A scan output of a loop, in host memory that grows with the iterations. It asks the device's memory limit before it
 * allocates: at once for all iterations where their number is known, else each time it grows.
 *
 * <p>Not thread-safe.
 */
final class ScanOutput implements Loop.Stack<Tensor> {
    private final Device device;
    private final long turns;
    private TensorType each;
    private Tensor room;
    private long capacity;
    private long count;

    /**
     * @throws OutOfMemoryException when {@code turns} parts of a concrete type are more than the device's memory limit
     *     leaves
     */
    ScanOutput(Device device, TensorType each, long turns) {
        this.device = device;
        this.turns = turns;
        this.each = each;
        this.room = Tensor.zeros(Loop.stacked(each, 0));
        if (turns > 0 && each.shape().isConcrete()) {
            requireRoom(turns);
        }
    }

    private void requireRoom(long parts) {
        TensorType type = Loop.stacked(each, parts);
        MemoryReport memory = device.memory();
        long free = memory.limit() - memory.total();
        if (Tensor.bytes(type) > free) {
            throw new OutOfMemoryException(
                    "loop: a scan output of " + parts + " iterations, " + type + ", takes " + Tensor.bytes(type)
                            + " bytes, the memory limit is " + memory.limit() + " and " + Math.max(0, free)
                            + " are free; expected fewer iterations, or a higher limit",
                    Tensor.bytes(type));
        }
    }

    @Override
    public void add(Tensor part) {
        if (count == 0) {
            each = part.type();
        } else if (!part.type().equals(each)) {
            throw new DataException("loop: a scan output is " + each + " in iteration 0 and " + part.type()
                    + " in iteration " + count + "; expected one shape");
        }
        if (count == capacity) {
            resize(Math.max(turns, Math.max(1, 2 * capacity)));
        }
        copy(part, SizeMath.product("loop", count, part.elements()));
        count++;
    }

    private void resize(long parts) {
        requireRoom(parts);
        Tensor larger = Tensor.zeros(Loop.stacked(each, parts));
        long used = Loop.stacked(each, count).bytes();
        MemorySegment.copy(room.segment(), 0, larger.segment(), 0, used);
        room = larger;
        capacity = parts;
    }

    private void copy(Tensor part, long first) {
        DType dtype = each.dtype();
        if (dtype.bits() >= 8) {
            MemorySegment.copy(part.segment(), 0, room.segment(), dtype.bytesFor(first), part.byteSize());
            return;
        }
        for (long i = 0; i < part.elements(); i++) {
            Elements.setBits(dtype, room.segment(), first + i, Elements.bits(dtype, part.segment(), i));
        }
    }

    @Override
    public Tensor whole() {
        if (count < capacity) {
            Tensor exact = Tensor.zeros(Loop.stacked(each, count));
            MemorySegment.copy(room.segment(), 0, exact.segment(), 0, exact.byteSize());
            return exact;
        }
        return room;
    }
}
