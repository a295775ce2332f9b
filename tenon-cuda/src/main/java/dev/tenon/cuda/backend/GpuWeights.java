package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.Transposition;
import dev.tenon.cuda.lower.step.FragmentPacking;
import dev.tenon.cuda.lower.step.WeightOrder;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The constants of one model in device memory, each uploaded once, whatever the number of plans and sessions, and held
 * as long as a plan reads it. Thread-safe.
 */
final class GpuWeights implements Device.Constants {
    private final KernelModules modules;
    private final GpuContext context;
    private final MemoryLedger ledger;
    private final HostBackend hostBackend;

    /** A part of a constant this large is uploaded by itself: a plan may want little of it. */
    private static final long MOST_WHOLE_BYTES = 64L << 20;

    /** What kernels may expect of a constant's address. */
    private static final long ALIGNMENT = 256;

    /** A constant as it lies in memory, or in another order. */
    record Layout(ConstantData data, @Nullable WeightOrder order) {
        // written out: plans look layouts up before the JVM has compiled the methods that records get

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Layout layout && Objects.equals(order, layout.order) && data.equals(layout.data);
        }

        @Override
        public int hashCode() {
            return 31 * data.hashCode() + Objects.hashCode(order);
        }

        /** Where it lies: in the table, say, of which a length wants some rows; else in memory of its own. */
        Place place() {
            if (order == null && data instanceof ConstantData.Dense dense) {
                long offset = dense.segment().address() - dense.whole().address();
                long bytes = dense.whole().byteSize();
                if (bytes > dense.segment().byteSize() && bytes <= MOST_WHOLE_BYTES && offset % ALIGNMENT == 0) {
                    TensorType type = TensorType.of(DType.U8, bytes);
                    return new Place(new Layout(new ConstantData.Dense(type, dense.whole()), null), offset);
                }
            }
            return new Place(this, 0);
        }
    }

    /** The bytes of {@code whole} from an offset on. */
    record Place(Layout whole, long offset) {}

    /** Memory of a constant, and how many plans read it. */
    private static final class Upload {
        final DeviceMemory memory;
        int users;

        Upload(DeviceMemory memory) {
            this.memory = memory;
        }
    }

    private final Map<Layout, Upload> uploaded = new HashMap<>();
    /** What no plan reads any more and could not be freed. */
    private final List<DeviceMemory> unclosed = new ArrayList<>();

    /** What lowering has found out that sizes do not change: of the order of the model's different operations. */
    private final Map<Object, Object> lasting = new ConcurrentHashMap<>();

    private @Nullable GpuStream stream;
    /** Of nodes that have no kernel. */
    private Device.@Nullable Constants host;

    private final HostBytes hostBytes;
    private boolean closed;

    GpuWeights(KernelModules modules, MemoryLedger ledger, HostBackend hostBackend) {
        this.modules = modules;
        this.context = modules.context();
        this.ledger = ledger;
        this.hostBackend = hostBackend;
        this.hostBytes = new HostBytes(ledger);
    }

    static GpuWeights of(Device.Constants weights) {
        if (weights instanceof GpuWeights own) {
            return own;
        }
        throw new InputException("the weights were made by another device");
    }

    /**
     * The address of a constant's elements, which are there when this returns.
     *
     * @param layout how they are to lie
     * @param used what one plan holds until {@link #release}: the constant is added
     * @throws dev.tenon.core.error.OutOfMemoryException past the cap or when the device has none left
     */
    synchronized long address(Layout layout, Set<Layout> used) {
        Place place = layout.place();
        Upload upload = uploaded.get(place.whole);
        if (upload == null) {
            upload = upload(place.whole);
        }
        if (used.add(place.whole)) {
            upload.users++;
        }
        return upload.memory.buffer().address() + place.offset;
    }

    /** What was made for a key first. Two threads may both make it; one is kept. */
    Object lasting(Object key, Supplier<?> make) {
        Object known = lasting.get(key);
        if (known == null) {
            Object made = make.get();
            Object before = lasting.putIfAbsent(key, made);
            known = before == null ? made : before;
        }
        return known;
    }

    /** Whether a constant is uploaded. */
    synchronized boolean holds(Layout layout) {
        return uploaded.containsKey(layout);
    }

    private Upload upload(Layout layout) {
        requireOpen();
        DeviceMemory memory = DeviceMemory.allocate(
                context,
                ledger,
                layout.data().type().bytes(),
                MemoryLedger.Use.WEIGHTS,
                "constant " + layout.data().type());
        try {
            fill(layout, memory);
            Upload upload = new Upload(memory);
            uploaded.put(layout, upload);
            return upload;
        } catch (RuntimeException | Error e) {
            unclosed.add(memory);
            Closing.after(e, this::closeUnused);
            throw e;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the model is closed");
        }
    }

    /** Where the constants lie that a plan holds. */
    synchronized List<DeviceBuffer> buffers(Set<Layout> used) {
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (Layout layout : used) {
            Upload upload = uploaded.get(layout);
            if (upload != null) {
                buffers.add(upload.memory.buffer());
            }
        }
        return buffers;
    }

    /** Frees what a plan held and no other reads. Nothing enqueued may read it any more. */
    synchronized void release(Set<Layout> used) {
        for (Layout layout : used) {
            Upload upload = uploaded.get(layout);
            if (upload != null && --upload.users == 0) {
                uploaded.remove(layout);
                unclosed.add(upload.memory);
            }
        }
        used.clear();
        closeUnused();
    }

    private void closeUnused() {
        Closing closing = new Closing();
        closing.each(unclosed, DeviceMemory::close);
        closing.end();
    }

    /**
     * Makes a plan runnable by the CPU backend, with constants that are held until this is closed.
     *
     * @throws dev.tenon.core.error.UnsupportedException with the reason where that backend is not there
     */
    synchronized Program onHost(Plan plan, String reason) {
        requireOpen();
        Device device = hostBackend.device(reason);
        Device.Constants constants = host;
        if (constants == null) {
            constants = device.newConstants();
            host = constants;
        }
        try {
            return device.compile(plan, constants, CompileOptions.defaults());
        } finally {
            hostBytes.are(constants.bytes());
        }
    }

    /** Closes a program that {@link #onHost} made. */
    synchronized void closeOnHost(Program program) {
        program.close();
        if (host != null) {
            hostBytes.are(host.bytes());
        }
    }

    private void fill(Layout layout, DeviceMemory memory) {
        GpuStream filling = stream;
        if (filling == null) {
            filling = context.newStream();
            stream = filling;
        }
        MemorySegment elements = layout.data().elements();
        switch (layout.order()) {
            case null -> filling.copyToDevice(elements, memory.buffer(), 0);
            case WeightOrder.Transposed() -> fillTransposed(layout.data().type(), elements, memory, filling);
            case WeightOrder.Fragments order -> fillFragments(layout.data().type(), order, elements, memory, filling);
        }
        filling.synchronize();
    }

    private void fillFragments(
            TensorType type,
            WeightOrder.Fragments order,
            MemorySegment elements,
            DeviceMemory memory,
            GpuStream filling) {
        FragmentPacking packing = new FragmentPacking(modules, type, order);
        try (Arena arena = Arena.ofConfined();
                DeviceMemory passage = DeviceMemory.allocate(
                        context,
                        ledger,
                        packing.passageBytes(),
                        MemoryLedger.Use.WORKSPACE,
                        "packing constant " + type)) {
            packing.enqueue(
                    filling,
                    new KernelArguments(arena),
                    elements,
                    passage.buffer(),
                    memory.buffer().address());
            filling.synchronize();
        }
    }

    private void fillTransposed(TensorType type, MemorySegment elements, DeviceMemory memory, GpuStream filling) {
        Transposition transposition = new Transposition(modules, type);
        try (Arena arena = Arena.ofConfined();
                DeviceMemory passage = DeviceMemory.allocate(
                        context,
                        ledger,
                        transposition.passageBytes(),
                        MemoryLedger.Use.WORKSPACE,
                        "transposing constant " + type)) {
            transposition.enqueue(
                    filling,
                    new KernelArguments(arena),
                    elements,
                    passage.buffer(),
                    memory.buffer().address());
            filling.synchronize();
        }
    }

    @Override
    public synchronized long bytes() {
        return uploaded.values().stream()
                .mapToLong(upload -> upload.memory.bytes())
                .sum();
    }

    /** Whether nothing is uploaded yet. */
    synchronized boolean isEmpty() {
        return uploaded.isEmpty();
    }

    @Override
    public synchronized void close() {
        closed = true;
        Closing closing = new Closing();
        uploaded.values().forEach(upload -> unclosed.add(upload.memory));
        uploaded.clear();
        closing.step(this::closeUnused);
        closing.step(() -> {
            if (stream != null) {
                stream.close();
                stream = null;
            }
        });
        closing.step(() -> {
            if (host != null) {
                host.close();
                hostBytes.are(0);
                host = null;
            }
        });
        closing.end();
    }
}
