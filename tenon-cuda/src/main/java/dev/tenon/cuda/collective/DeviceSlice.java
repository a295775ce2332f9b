package dev.tenon.cuda.collective;

import dev.tenon.collective.Buffer;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.cuda.port.DeviceBuffer;

/**
 * Elements in a device's memory that a collective reads or writes: those of a buffer from a byte on. Immutable; the
 * memory is the caller's, who keeps it until the work that was enqueued is done.
 *
 * @param memory of the device of the communicator that it is given to
 * @param offset bytes before the first element, a multiple of the element's size; on a multiple of 16 collectives are
 *     fastest
 * @param length elements
 */
public record DeviceSlice(DeviceBuffer memory, long offset, long length, DType dtype) implements Buffer {
    /**
     * @throws InputException when the elements are not all within the buffer, or not at a multiple of their size
     *     @throws dev.tenon.core.error.DTypeException for packed types
     */
    public DeviceSlice {
        int bytes = dtype.bytes();
        if (offset < 0 || length < 0 || offset % bytes != 0 || length > (memory.bytes() - offset) / bytes) {
            throw new InputException(length + " " + dtype + " from byte " + offset + " on are not within a buffer of "
                    + memory.bytes() + " bytes, or not on a multiple of " + bytes + " bytes");
        }
    }

    /** As many elements as the buffer holds. */
    public static DeviceSlice of(DeviceBuffer memory, DType dtype) {
        return new DeviceSlice(memory, 0, memory.bytes() / dtype.bytes(), dtype);
    }

    /**
     * A view of {@code count} elements from element {@code from} on.
     *
     * @throws InputException when they are not all there
     */
    public DeviceSlice slice(long from, long count) {
        if (from < 0 || count < 0 || from > length - count) {
            throw new InputException("elements " + from + " to " + (from + count) + " of " + this);
        }
        return new DeviceSlice(memory, offset + dtype.bytesFor(from), count, dtype);
    }

    /** Bytes of the elements. */
    public long bytes() {
        return dtype.bytesFor(length);
    }

    /** The address of the first element. @throws dev.tenon.core.error.ClosedException when the buffer is closed */
    public long address() {
        return memory.address() + offset;
    }

    boolean same(DeviceSlice other) {
        return address() == other.address() && length == other.length;
    }

    boolean overlaps(DeviceSlice other) {
        return length > 0
                && other.length > 0
                && address() < other.address() + other.bytes()
                && other.address() < address() + bytes();
    }

    /** Such as {@code 5 f32}. */
    @Override
    public String toString() {
        return length + " " + dtype;
    }
}
