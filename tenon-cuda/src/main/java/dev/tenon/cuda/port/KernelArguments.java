package dev.tenon.cuda.port;

import dev.tenon.core.ir.SizeMath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The arguments of one launch in the form that drivers take: values in a slab, and an array of their addresses. Filled
 * anew for every launch without allocating. Belongs to one thread at a time; lives as long as its arena.
 */
public final class KernelArguments {
    private static final int MOST = 64;
    private static final int SLAB = 4096; // the driver's limit on the bytes of all parameters
    private static final int SLOT = 8;

    private final MemorySegment values;
    private final MemorySegment pointers;
    private final long base;
    private int count;
    private int used;
    private int lastWords;

    public KernelArguments(Arena arena) {
        values = arena.allocate(SLAB, 128);
        pointers = arena.allocate((long) MOST * Long.BYTES, Long.BYTES);
        base = values.address();
    }

    /** Forgets all arguments. */
    public KernelArguments clear() {
        count = 0;
        used = 0;
        return this;
    }

    public KernelArguments add(long value) {
        values.set(ValueLayout.JAVA_LONG, slot(SLOT, SLOT), value);
        return this;
    }

    public KernelArguments add(int value) {
        values.set(ValueLayout.JAVA_INT, slot(SLOT, SLOT), value);
        return this;
    }

    public KernelArguments add(float value) {
        values.set(ValueLayout.JAVA_FLOAT, slot(SLOT, SLOT), value);
        return this;
    }

    public KernelArguments add(double value) {
        values.set(ValueLayout.JAVA_DOUBLE, slot(SLOT, SLOT), value);
        return this;
    }

    /** The address of a buffer's byte. */
    public KernelArguments add(DeviceBuffer buffer, long offset) {
        return add(buffer.address() + offset);
    }

    public KernelArguments add(DeviceBuffer buffer) {
        return add(buffer.address());
    }

    /** A struct by value: a tensor map, an array of sizes. */
    public KernelArguments add(MemorySegment struct, int alignment) {
        MemorySegment.copy(
                struct,
                0,
                values,
                slot(SizeMath.toInt("kernel argument", struct.byteSize()), alignment),
                struct.byteSize());
        return this;
    }

    /** A struct of so many addresses or other 64-bit words by value, to be filled by {@link #word}. */
    public KernelArguments addWords(int words) {
        slot(words * Long.BYTES, Long.BYTES);
        lastWords = words;
        return this;
    }

    /** Sets a word of the struct that was added last. */
    public KernelArguments word(int index, long value) {
        values.set(ValueLayout.JAVA_LONG, used - (long) (lastWords - index) * Long.BYTES, value);
        return this;
    }

    public int count() {
        return count;
    }

    /** An array of {@link #count()} addresses, one an argument. */
    public MemorySegment pointers() {
        return pointers;
    }

    private int slot(int bytes, int alignment) {
        int at = (used + alignment - 1) & -alignment;
        if (count == MOST || at + bytes > SLAB) {
            throw new IllegalStateException(
                    "a kernel takes at most " + MOST + " arguments of " + SLAB + " bytes in all");
        }
        used = at + bytes;
        pointers.setAtIndex(ValueLayout.JAVA_LONG, count++, base + at);
        return at;
    }
}
