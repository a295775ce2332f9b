package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.RowKernels;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelCompiler;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What a case runs on: an open device, compiled kernels, a stream, and buffers that live as long as one case. Used by
 * one thread.
 */
public final class KernelStage implements AutoCloseable {
    private static final byte POISON =
            (byte) 0xFE; // a NaN in no float type's zero or result, an odd number in integers

    private final KernelModules modules;
    private final WatchedStream stream;
    private final Arena arena = Arena.ofShared();
    private final KernelArguments arguments = new KernelArguments(arena);
    private final List<DeviceBuffer> buffers = new ArrayList<>();

    public KernelStage(GpuContext context, KernelCompiler compiler) {
        modules = new KernelModules(context, compiler);
        stream = new WatchedStream(context.newStream());
    }

    public GpuContext context() {
        return modules.context();
    }

    public GpuStream stream() {
        return stream;
    }

    public KernelArguments arguments() {
        return arguments;
    }

    public KernelModules modules() {
        return modules;
    }

    public RowKernels rows() {
        return new RowKernels(modules);
    }

    /** Shared memory of a block, the most of the launches since the last call, in bytes: static and dynamic. */
    public int takeSharedBytes() {
        return stream.takeSharedBytes();
    }

    /** Runs a case and frees its buffers. @throws AssertionError from the case */
    public void run(KernelCase kernelCase) {
        try {
            kernelCase.check().accept(this);
        } finally {
            release();
        }
    }

    /** Waits for the stream and frees all buffers made so far. */
    public void release() {
        stream.synchronize();
        buffers.forEach(DeviceBuffer::close);
        buffers.clear();
    }

    /** Device memory with numbers in it, {@code shift} elements from its start. */
    public DeviceBuffer upload(DType dtype, double[] values, int shift) {
        DeviceBuffer buffer = poisoned((long) (values.length + shift) * dtype.bytes());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment host = scratch.allocate((long) values.length * dtype.bytes(), 16);
            for (int i = 0; i < values.length; i++) {
                Elements.setDouble(dtype, host, i, values[i]);
            }
            stream.copyToDevice(host, buffer, (long) shift * dtype.bytes());
        }
        return buffer;
    }

    /** Device memory with an array in it. */
    DeviceBuffer upload(NdArray values) {
        DeviceBuffer buffer = poisoned(values.type().bytes());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment host = scratch.allocate(values.type().bytes(), 16);
            values.write(host);
            stream.copyToDevice(host, buffer, 0);
        }
        return buffer;
    }

    /** Waits for the stream and reads an array. */
    NdArray download(TensorType type, DeviceBuffer buffer) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment host = scratch.allocate(type.bytes(), 16);
            stream.copyToHost(buffer, 0, host);
            stream.synchronize();
            return NdArray.read(type, host);
        }
    }

    /** Device memory full of junk, so that an element that nobody wrote shows. */
    public DeviceBuffer poisoned(long bytes) {
        return filled(bytes, POISON);
    }

    public DeviceBuffer zeroed(long bytes) {
        return filled(bytes, (byte) 0);
    }

    private DeviceBuffer filled(long bytes, byte value) {
        DeviceBuffer buffer = context().allocate(Math.max(bytes, 1));
        buffers.add(buffer);
        stream.fill(buffer, 0, buffer.bytes(), value);
        return buffer;
    }

    /** Fills a buffer with junk again. */
    public void poison(DeviceBuffer buffer) {
        stream.fill(buffer, 0, buffer.bytes(), POISON);
    }

    /** Waits for the stream and reads numbers, from {@code shift} elements on. */
    public double[] download(DType dtype, DeviceBuffer buffer, int count, int shift) {
        double[] values = new double[count];
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment host = scratch.allocate((long) count * dtype.bytes(), 16);
            stream.copyToHost(buffer, (long) shift * dtype.bytes(), host);
            stream.synchronize();
            for (int i = 0; i < count; i++) {
                values[i] = Elements.getDouble(dtype, host, i);
            }
        }
        return values;
    }

    @Override
    public void close() {
        stream.close();
        modules.close();
        arena.close();
    }
}
