package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The constants of one model in device memory, each uploaded once, whatever the number of plans and sessions. Thread-safe. */
final class GpuWeights implements Device.Weights {
    private final GpuContext context;
    private final MemoryLedger ledger;
    /** A constant as it lies in memory, or transposed. */
    private record Layout(ConstantData data, boolean transposed) {}

    private final Map<Layout, DeviceMemory> uploaded = new HashMap<>();
    private @Nullable GpuStream stream;
    /** Of nodes that have no kernel. */
    private Device.@Nullable Weights host;

    private final HostBytes hostBytes;
    private long bytes;
    private boolean closed;

    GpuWeights(GpuContext context, MemoryLedger ledger) {
        this.context = context;
        this.ledger = ledger;
        this.hostBytes = new HostBytes(ledger);
    }

    static GpuWeights of(Device.Weights weights) {
        if (weights instanceof GpuWeights own) {
            return own;
        }
        throw new InputException("the weights were made by another device");
    }

    /**
     * The address of a constant's elements, which are there when this returns.
     *
     * @param transposed whether they are to lie as those of the transposed matrix
     * @throws dev.tenon.core.error.OutOfMemoryException past the cap or when the device has none left
     */
    synchronized long address(ConstantData data, boolean transposed) {
        if (closed) {
            throw new ClosedException("the model is closed");
        }
        Layout layout = new Layout(data, transposed);
        DeviceMemory known = uploaded.get(layout);
        if (known != null) {
            return known.buffer().address();
        }
        DeviceMemory memory = DeviceMemory.allocate(
                context, ledger, data.type().bytes(), MemoryLedger.Use.WEIGHTS, "constant " + data.type());
        try {
            upload(layout, memory);
            uploaded.put(layout, memory);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
        bytes += memory.bytes();
        return memory.buffer().address();
    }

    /** Where all constants lie that were asked for so far. */
    synchronized List<DeviceBuffer> buffers() {
        return uploaded.values().stream().map(DeviceMemory::buffer).toList();
    }

    /** Makes a plan runnable by the CPU backend, with constants that are held until this is closed. @throws dev.tenon.core.error.UnsupportedException with the reason where that backend is not there */
    synchronized Program onHost(Plan plan, String reason) {
        if (closed) {
            throw new ClosedException("the model is closed");
        }
        Device device = HostBackend.device(reason);
        Device.Weights constants = host;
        if (constants == null) {
            constants = device.newWeights();
            host = constants;
        }
        try {
            return device.compile(plan, constants, CompileOptions.defaults());
        } finally {
            hostBytes.are(constants.bytes());
        }
    }

    private void upload(Layout layout, DeviceMemory memory) {
        if (stream == null) {
            stream = context.newStream();
        }
        switch (layout.data()) {
            case ConstantData.Dense dense ->
                stream.copyToDevice(
                        layout.transposed() ? TransposedMatrix.of(dense) : dense.segment(), memory.buffer(), 0);
            case ConstantData.Splat splat -> stream.copyToDevice(splat.materialise(), memory.buffer(), 0);
        }
        stream.synchronize();
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        uploaded.values().forEach(DeviceMemory::close);
        uploaded.clear();
        bytes = 0;
        if (stream != null) {
            stream.close();
        }
        if (host != null) {
            host.close();
            hostBytes.are(0);
        }
    }
}
