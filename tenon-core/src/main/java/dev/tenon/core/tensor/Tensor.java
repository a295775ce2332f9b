package dev.tenon.core.tensor;

import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.HostMemory;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.movement.Reshape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Elements of one type under a shape, row-major, of any size. Little-endian. In host memory outside the heap, or in a
 * device's memory ({@code Session}): then they are copied to the host when they are first asked for.
 *
 * <p>Host memory lives as long as the tensor is reachable, or as long as the arena that it was allocated in: a host
 * tensor needs no {@link #close()}. The shape and type never change, the elements may; reading while another thread
 * writes gives mixed values, nothing worse. {@link #equals} compares type and elements, so a tensor that changes must
 * not be a key.
 */
public final class Tensor extends ReadableTensor implements AutoCloseable {
    /** Vector loads want no more than this. */
    private static final long ALIGNMENT = 64;

    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private final @Nullable Resident resident;
    private final @Nullable LeakWatch watch;
    /** Whose device memory this tensor shows under another shape; kept so that it stays reachable. */
    private final @Nullable Tensor owner;
    /** Null until a device's elements are asked for. */
    private @Nullable MemorySegment host;
    /** Which of a device's elements {@link #host} is a copy of. */
    private long copiedVersion;

    private Tensor(TensorType type, MemorySegment segment) {
        super(type);
        this.host = segment;
        this.resident = null;
        this.watch = null;
        this.owner = null;
    }

    private Tensor(TensorType type, Resident resident) {
        super(type);
        this.resident = resident;
        this.watch = LeakWatch.over(this, () -> "Tensor(" + type + ") on a device");
        this.owner = null;
    }

    private Tensor(TensorType type, Tensor owner) {
        super(type);
        this.resident = owner.resident;
        this.watch = null;
        this.owner = owner;
    }

    /** Zeros in memory that is freed when the tensor is unreachable. @throws OutOfMemoryException naming the bytes */
    public static Tensor zeros(DType dtype, long... sizes) {
        Require.nonNull(dtype, "dtype");
        Require.nonNull(sizes, "sizes");
        return zeros(TensorType.of(dtype, sizes));
    }

    /**
     * Zeros of a concrete type.
     *
     * @throws OutOfMemoryException naming the bytes
     * @throws ShapeException when a dim is not a number
     */
    public static Tensor zeros(TensorType type) {
        return allocate(HostMemory::allocate, type);
    }

    /** Zeros in the arena's memory, gone when the arena closes; use after that is an IllegalStateException. */
    public static Tensor allocate(Arena arena, TensorType type) {
        Require.nonNull(arena, "arena");
        if (!arena.scope().isAlive()) {
            throw new ClosedException("tensor: argument \"arena\" is closed; expected an open arena");
        }
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
                    bytes,
                    e);
        }
    }

    /**
     * What the elements of a concrete type take.
     *
     * @throws OutOfMemoryException past 2^63
     * @throws ShapeException when a dim is not a number
     */
    public static long bytes(TensorType type) {
        if (!Require.nonNull(type, "type").shape().isConcrete()) {
            throw new ShapeException("tensor " + type + ": the shape is not concrete; expected a number for each dim");
        }
        try {
            return type.bytes();
        } catch (OutOfMemoryException | ShapeException e) {
            throw new OutOfMemoryException("tensor " + type + " takes more than 2^63 bytes; expected fewer", e);
        }
    }

    /** A tensor in a device's memory, for backends: the tensor owns it. */
    public static Tensor on(Resident resident, TensorType type) {
        return new Tensor(Require.nonNull(type, "type"), Require.nonNull(resident, "resident"));
    }

    /** A tensor over memory that exists; nothing is copied. @throws ShapeException when the sizes differ */
    public static Tensor wrap(TensorType type, MemorySegment segment) {
        long bytes = bytes(type);
        if (Require.nonNull(segment, "segment").byteSize() != bytes) {
            throw new ShapeException(
                    "tensor " + type + " takes " + bytes + " bytes, the segment has " + segment.byteSize());
        }
        return new Tensor(type, segment);
    }

    /** A copy of the values, of type f32. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(float[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.F32, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_FLOAT, 0, values.length);
        return tensor;
    }

    /** A copy of the values, of type f64. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(double[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.F64, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_DOUBLE, 0, values.length);
        return tensor;
    }

    /** A copy of the values, of type i64. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(long[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.I64, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_LONG, 0, values.length);
        return tensor;
    }

    /** A copy of the values, of type i32. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(int[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.I32, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_INT, 0, values.length);
        return tensor;
    }

    /** A copy of the values, of type i8. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(byte[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.I8, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_BYTE, 0, values.length);
        return tensor;
    }

    /** A copy of the values, of type bool. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(boolean[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.BOOL, values.length, sizes);
        for (int i = 0; i < values.length; i++) {
            tensor.segment().set(ValueLayout.JAVA_BOOLEAN, i, values[i]);
        }
        return tensor;
    }

    /** A copy of the values, of type i16. @throws ShapeException when the sizes do not have as many elements */
    public static Tensor of(short[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(DType.I16, values.length, sizes);
        MemorySegment.copy(values, 0, tensor.segment(), ValueLayout.JAVA_SHORT, 0, values.length);
        return tensor;
    }

    /** A tensor of any type from numbers, each rounded or saturated to it. */
    public static Tensor of(DType dtype, double[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(dtype, values.length, sizes);
        for (int i = 0; i < values.length; i++) {
            Elements.setDouble(dtype, tensor.segment(), i, values[i]);
        }
        return tensor;
    }

    /** A tensor of any type from integers, of which a narrower integer type keeps the low bits. */
    public static Tensor of(DType dtype, long[] values, long... sizes) {
        Require.nonNull(values, "values");
        Tensor tensor = sized(dtype, values.length, sizes);
        for (int i = 0; i < values.length; i++) {
            Elements.setLong(dtype, tensor.segment(), i, values[i]);
        }
        return tensor;
    }

    private static Tensor sized(DType dtype, int count, long... sizes) {
        TensorType type = TensorType.of(Require.nonNull(dtype, "dtype"), Require.nonNull(sizes, "sizes"));
        if (type.shape().elements() != count) {
            throw new ShapeException(
                    "shape " + type.shape() + " has " + type.shape().elements() + " elements, the array has " + count);
        }
        return zeros(type);
    }

    /**
     * The elements' memory itself, not a copy. Of a tensor in a device's memory: a copy on the host, made at the first
     * call, and anew at the next one after a collective has changed the elements; changing it does not change the
     * device's.
     *
     * @throws dev.tenon.core.error.ClosedException when the device's memory was given back before these elements were
     *     asked for
     * @throws dev.tenon.core.error.CollectiveException when a collective that was to change the elements has failed
     */
    @Override
    public MemorySegment segment() {
        return resident == null ? Objects.requireNonNull(host) : copied(resident);
    }

    private synchronized MemorySegment copied(Resident device) {
        long version = device.version();
        if (host == null || copiedVersion != version) {
            MemorySegment copy = zeros(type()).segment();
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

    /**
     * Gives a device's memory back, as soon as nothing works on it any more; elements that were already asked for stay.
     * Does nothing to a tensor in host memory. Idempotent.
     */
    @Override
    public void close() {
        if (resident != null && watch != null) {
            watch.closed();
            resident.close();
        }
    }

    /**
     * The same elements under another shape; nothing is copied, both tensors show the same memory. Of a tensor in a
     * device's memory, this one stays the owner: closing it ends the other.
     *
     * @param sizes of which one may be -1: what is left for it
     * @throws ShapeException when the sizes do not have as many elements
     */
    public Tensor reshape(long... sizes) {
        List<Long> wanted =
                LongStream.of(Require.nonNull(sizes, "sizes")).boxed().toList();
        Shape shape = new Reshape(wanted).shapes(List.of(shape())).getFirst();
        TensorType reshaped = new TensorType(dtype(), shape);
        return resident == null ? new Tensor(reshaped, segment()) : new Tensor(reshaped, owner == null ? this : owner);
    }

    /**
     * That this thread may read the elements.
     *
     * @param use what they are for, in messages
     * @throws ClosedException when the arena of their memory is closed
     * @throws InputException when they are confined to another thread
     */
    @Override
    public void requireReadable(String use) {
        Require.nonNull(use, "use");
        MemorySegment memory = host;
        if (resident != null || memory == null) { // the device's own program asks, when it reads
            return;
        }
        if (!memory.scope().isAlive()) {
            throw new ClosedException(use + ": its memory is gone: the arena that it was allocated in is closed");
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

    /**
     * The type and the first few elements: {@code f32[2,3] {1.0, 2.0, 3.0, …}}. Of elements that lie on a device alone,
     * where they lie; never throws.
     */
    @Override
    public String toString() {
        if (resident != null) {
            return type() + " on " + resident.device();
        }
        MemorySegment memory = Objects.requireNonNull(host);
        return memory.scope().isAlive() && memory.isAccessibleBy(Thread.currentThread())
                ? TensorContents.text(type(), memory)
                : type() + " (not readable by this thread)";
    }
}
