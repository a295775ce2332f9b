package dev.tenon.core.tensor;

import dev.tenon.core.error.DTypeException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Elements of one type under a shape, row-major, of any size. Little-endian. In host memory outside the heap, or in a device's memory ({@code Session}): then they are copied to the host when they are first asked for.
 *
 * <p>Host memory lives as long as the tensor is reachable, or as long as the arena that it was allocated in. The shape and type never change, the elements may; reading while another thread writes gives mixed values, nothing worse.
 */
public final class Tensor implements AutoCloseable {
    /** Vector loads want no more than this. */
    private static final long ALIGNMENT = 64;

    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private final TensorType type;
    private final @Nullable Resident resident;
    private final @Nullable LeakWatch watch;
    /** Null until a device's elements are asked for. */
    private @Nullable MemorySegment host;
    /** Which of a device's elements {@link #host} is a copy of. */
    private long copiedVersion;

    private Tensor(TensorType type, MemorySegment segment) {
        this.type = type;
        this.host = segment;
        this.resident = null;
        this.watch = null;
    }

    private Tensor(TensorType type, Resident resident) {
        this.type = type;
        this.resident = resident;
        this.watch = LeakWatch.over(this, "Tensor(" + type + ") on a device");
    }

    /** Zeros in memory that is freed when the tensor is unreachable. @throws OutOfMemoryException naming the bytes */
    public static Tensor zeros(DType dtype, long... sizes) {
        return zeros(TensorType.of(dtype, sizes));
    }

    public static Tensor zeros(TensorType type) {
        return allocate(HostMemory::allocate, type);
    }

    /** Zeros in the arena's memory, gone when the arena closes; use after that is an IllegalStateException. */
    public static Tensor allocate(Arena arena, TensorType type) {
        return allocate((SegmentAllocator) arena, type);
    }

    private static Tensor allocate(SegmentAllocator memory, TensorType type) {
        long bytes = bytes(type);
        try {
            return new Tensor(type, memory.allocate(bytes, ALIGNMENT));
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            throw new OutOfMemoryException(
                    "no " + bytes + " bytes of host memory for tensor " + type
                            + " (the JVM's own limit on memory outside the heap is -XX:MaxDirectMemorySize)",
                    e);
        }
    }

    /** What its elements take. @throws OutOfMemoryException when that is no number */
    public static long bytes(TensorType type) {
        try {
            return type.bytes();
        } catch (OutOfMemoryException | ShapeException e) {
            throw new OutOfMemoryException("tensor " + type + " takes more than 2^63 bytes; expected fewer", e);
        }
    }

    /** A tensor in a device's memory, for backends: the tensor owns it. */
    public static Tensor on(Resident resident, TensorType type) {
        return new Tensor(type, resident);
    }

    /** A tensor over memory that exists; nothing is copied. @throws ShapeException when the sizes differ */
    public static Tensor wrap(TensorType type, MemorySegment segment) {
        if (segment.byteSize() != type.bytes()) {
            throw new ShapeException(
                    "tensor " + type + " takes " + type.bytes() + " bytes, the segment has " + segment.byteSize());
        }
        return new Tensor(type, segment);
    }

    public static Tensor of(float[] values, long... sizes) {
        Tensor tensor = sized(DType.F32, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_FLOAT, 0, values.length);
        return tensor;
    }

    public static Tensor of(double[] values, long... sizes) {
        Tensor tensor = sized(DType.F64, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_DOUBLE, 0, values.length);
        return tensor;
    }

    public static Tensor of(long[] values, long... sizes) {
        Tensor tensor = sized(DType.I64, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_LONG, 0, values.length);
        return tensor;
    }

    public static Tensor of(int[] values, long... sizes) {
        Tensor tensor = sized(DType.I32, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_INT, 0, values.length);
        return tensor;
    }

    public static Tensor of(byte[] values, long... sizes) {
        Tensor tensor = sized(DType.I8, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_BYTE, 0, values.length);
        return tensor;
    }

    public static Tensor of(boolean[] values, long... sizes) {
        Tensor tensor = sized(DType.BOOL, values.length, sizes);
        for (int i = 0; i < values.length; i++) {
            tensor.segment().set(ValueLayout.JAVA_BOOLEAN, i, values[i]);
        }
        return tensor;
    }

    /** A tensor of any type from numbers, each rounded or saturated to it. */
    public static Tensor of(DType dtype, double[] values, long... sizes) {
        Tensor tensor = sized(dtype, values.length, sizes);
        for (int i = 0; i < values.length; i++) {
            Elements.setDouble(dtype, tensor.segment(), i, values[i]);
        }
        return tensor;
    }

    private static Tensor sized(DType dtype, int count, long... sizes) {
        TensorType type = TensorType.of(dtype, sizes);
        if (type.shape().elements() != count) {
            throw new ShapeException(
                    "shape " + type.shape() + " has " + type.shape().elements() + " elements, the array has " + count);
        }
        return zeros(type);
    }

    public TensorType type() {
        return type;
    }

    public DType dtype() {
        return type.dtype();
    }

    public Shape shape() {
        return type.shape();
    }

    /** The number of elements. */
    public long elements() {
        return type.shape().elements();
    }

    public long byteSize() {
        return type.bytes();
    }

    /**
     * The elements' memory itself, not a copy. Of a tensor in a device's memory: a copy on the host, made at the first call, and anew at the next one after a collective has changed the elements; changing it does not change the device's.
     *
     * @throws dev.tenon.core.error.ClosedException when the device's memory was given back before these elements were asked for
     * @throws dev.tenon.core.error.CollectiveException when a collective that was to change the elements has failed
     */
    public MemorySegment segment() {
        return resident == null ? Objects.requireNonNull(host) : copied(resident);
    }

    private synchronized MemorySegment copied(Resident device) {
        long version = device.version();
        if (host == null || copiedVersion != version) {
            MemorySegment copy = zeros(type).segment();
            device.read(copy);
            host = copy;
            copiedVersion = version;
        }
        return host;
    }

    /** The device's memory; null for a tensor in host memory. */
    public @Nullable Resident resident() {
        return resident;
    }

    /** Gives a device's memory back, as soon as nothing works on it any more; elements that were already asked for stay. Does nothing to a tensor in host memory. Idempotent. */
    @Override
    public void close() {
        if (resident != null && watch != null) {
            watch.closed();
            resident.close();
        }
    }

    /** One element as a number, by its row-major position. */
    public double getDouble(long index) {
        return Elements.getDouble(dtype(), segment(), index);
    }

    /** One element as an integer, by its row-major position. */
    public long getLong(long index) {
        return Elements.getLong(dtype(), segment(), index);
    }

    /** A copy of the elements of an f32 tensor. @throws ShapeException when an array cannot hold them */
    public float[] toFloats() {
        require(DType.F32);
        return segment().asSlice(0, 4L * arrayLength()).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    /** A copy of the elements of an i64 tensor. */
    public long[] toLongs() {
        require(DType.I64);
        return segment().asSlice(0, 8L * arrayLength()).toArray(ValueLayout.JAVA_LONG_UNALIGNED);
    }

    /** A copy of the elements, of any type, as doubles. */
    public double[] toDoubles() {
        double[] values = new double[arrayLength()];
        for (int i = 0; i < values.length; i++) {
            values[i] = getDouble(i);
        }
        return values;
    }

    /** That this thread may read the elements. @throws InputException naming the use and why not */
    public void requireReadable(String use) {
        MemorySegment memory = host;
        if (resident != null || memory == null) { // the device's own program asks, when it reads
            return;
        }
        if (!memory.scope().isAlive()) {
            throw new InputException(use + ": its memory is gone: the arena that it was allocated in is closed");
        }
        Thread thread = Thread.currentThread();
        if (!memory.isAccessibleBy(thread)) {
            throw new InputException(use + ": its memory is confined to another thread than this one ("
                    + thread.getName() + "); allocate it in a shared or automatic arena");
        }
    }

    /** The elements where every thread may read them: copied when they are confined to this one. */
    public MemorySegment everywhere() {
        return segment().isAccessibleBy(ANY_THREAD)
                ? segment()
                : HostMemory.allocate(segment().byteSize(), ALIGNMENT).copyFrom(segment());
    }

    private int arrayLength() {
        long count = elements();
        if (count > Integer.MAX_VALUE - 8) {
            throw new ShapeException(
                    "tensor " + type + " is too large for a Java array: " + count + " elements; use segment()");
        }
        return (int) count;
    }

    private void require(DType wanted) {
        if (dtype() != wanted) {
            throw new DTypeException("the tensor is " + type + ", asked for as " + wanted);
        }
    }

    /** The type and the first few elements. */
    @Override
    public String toString() {
        long shown = Math.min(elements(), 8);
        return LongStream.range(0, shown)
                .mapToObj(i -> dtype().isFloat() ? Float.toString((float) getDouble(i)) : Long.toString(getLong(i)))
                .collect(Collectors.joining(", ", type + " {", shown < elements() ? ", …}" : "}"));
    }
}
