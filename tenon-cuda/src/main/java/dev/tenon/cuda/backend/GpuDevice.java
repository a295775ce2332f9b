package dev.tenon.cuda.backend;

import dev.tenon.core.backend.Closing;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.backend.Program;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.MemoryReport;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.blas.Blas;
import dev.tenon.cuda.dnn.Dnn;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.lower.step.IdleWork;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuPlatform;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Tuner;
import dev.tenon.nativelib.cuda.CuLibrary;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A GPU, open: its context, kernels, libraries and books. Thread-safe. */
final class GpuDevice implements Device {
    private final DeviceInfo info;
    private final GpuContext context;
    private final KernelModules modules;
    private final GpuLibraries libraries;
    private final MemoryLedger ledger;
    private final EngineOptions options;
    private final HostBackend host;
    private final Activity activity;
    /** Whether its work is done by other processors than the host's. */
    private final boolean elsewhere;

    private final PassingStreams streams;
    private final Residents residents;
    private final SavedPlans savedPlans;

    private GpuDevice(
            DeviceInfo info,
            GpuContext context,
            KernelModules modules,
            GpuLibraries libraries,
            MemoryLedger ledger,
            EngineOptions options,
            Activity activity,
            boolean elsewhere) {
        this.info = info;
        this.activity = activity;
        this.elsewhere = elsewhere;
        this.context = context;
        this.modules = modules;
        this.libraries = libraries;
        this.ledger = ledger;
        this.options = options;
        this.host = new HostBackend(options);
        this.streams = new PassingStreams(context);
        this.residents = new Residents(new ResultMemory(context, ledger));
        this.savedPlans = new SavedPlans(modules, info);
    }

    static GpuDevice open(GpuPlatform platform, int ordinal, EngineOptions options) {
        if (platform.takesLibraries()) {
            aside(platform);
        }
        GpuContext context = platform.driver().open(ordinal);
        try {
            // where the heap is known to have room, and not in the middle of a plan
            KernelCatalog.prepare();
            GpuDevice device = over(context, platform, ordinal, options);
            device.blas().startAhead();
            return device;
        } catch (RuntimeException | Error e) {
            Closing.after(e, context::close);
            throw e;
        }
    }

    /** Does what need not wait for the context, while that is made, which takes a quarter of a second. */
    private static void aside(GpuPlatform platform) {
        aside("tenon-calls", CuLibrary::prepare);
        aside("tenon-sources", () -> {
            KernelCatalog.prepare();
            KernelSources.prepare();
            platform.compiler();
        });
        aside("tenon-libraries", Blas::open);
    }

    private static void aside(String name, Runnable work) {
        try {
            Thread.ofPlatform().daemon().name(name).start(() -> {
                try {
                    work.run();
                } catch (OutOfMemoryError e) {
                    // what needs it meets the same
                }
            });
        } catch (OutOfMemoryError e) {
            // no thread is to be had: it is done when it is needed
        }
    }

    private static GpuDevice over(GpuContext context, GpuPlatform platform, int ordinal, EngineOptions options) {
        MemoryLedger ledger = new MemoryLedger(platform.name() + ":" + ordinal, options.memoryLimit());
        Activity activity = new Activity();
        return new GpuDevice(
                GpuBackend.info(platform.driver(), context.device()),
                context,
                new KernelModules(context, platform.compiler()),
                platform.takesLibraries()
                        ? GpuLibraries.of(context, ledger, options.libraryWorkspace(), activity::idle)
                        : GpuLibraries.none("CUDA's libraries do not work on the " + platform.name()),
                ledger,
                options,
                activity,
                platform.takesLibraries());
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public Constants newConstants() {
        return new GpuWeights(modules, ledger, host);
    }

    @Override
    public Program compile(Plan plan, Constants weights, CompileOptions options) {
        activity.begin();
        try {
            return GpuPlanner.program(plan, GpuWeights.of(weights), this, options);
        } finally {
            activity.endPlan();
        }
    }

    /** Whether all calls of libraries run by the algorithm that was measured to be the fastest. */
    @Override
    public boolean settled() {
        return libraries.tuner().settled();
    }

    @Override
    public boolean leavesProcessors() {
        return elsewhere;
    }

    @Override
    public void practise(Plan plan, Constants weights, CompileOptions options) {
        GpuPlanner.practise(plan, GpuWeights.of(weights), this, options);
    }

    /** Told by plans that are made and by sessions. */
    Activity activity() {
        return activity;
    }

    @Override
    public State newState() {
        return new GpuSession(this);
    }

    @Override
    public Tensor upload(Tensor tensor) {
        if (GpuResident.of(tensor.resident(), context) != null) {
            return tensor;
        }
        MemorySegment elements = tensor.segment();
        return filled(tensor.type(), (stream, buffer) -> stream.copyToDevice(elements, buffer, 0));
    }

    @Override
    public Tensor zeros(TensorType type) {
        return filled(type, (stream, buffer) -> stream.fill(buffer, 0, buffer.bytes(), (byte) 0));
    }

    private Tensor filled(TensorType type, BiConsumer<GpuStream, DeviceBuffer> filling) {
        DeviceMemory memory = forResult(type.bytes());
        try {
            streams.run(stream -> filling.accept(stream, memory.buffer()));
        } catch (RuntimeException | Error e) {
            Closing.after(e, memory::close);
            throw e;
        }
        return tensor(memory, type);
    }

    /** Makes complete results a tensor, which owns their memory; freed where that fails. */
    Tensor tensor(DeviceMemory memory, TensorType type) {
        try {
            return Tensor.on(resident(memory), type);
        } catch (RuntimeException | Error e) {
            Closing.after(e, memory::close); // a resident that was made finds it closed, with the device
            throw e;
        }
    }

    /** What it was opened with. */
    EngineOptions options() {
        return options;
    }

    GpuContext context() {
        return context;
    }

    KernelModules modules() {
        return modules;
    }

    /** What the next process finds of plans that are made ahead of time. */
    SavedPlans savedPlans() {
        return savedPlans;
    }

    Tuner tuner() {
        return libraries.tuner();
    }

    /** What does work when the device has nothing else to do; null where nothing does. */
    @Nullable
    IdleWork idleWork() {
        Tuner tuner = libraries.tuner();
        return tuner.isOn() ? work -> tuner.add(() -> work.test(modules)) : null;
    }

    Blas blas() {
        return libraries.blas();
    }

    Dnn dnn() {
        return libraries.dnn();
    }

    MemoryLedger ledger() {
        return ledger;
    }

    /** Where nodes without kernels run. */
    HostBackend host() {
        return host;
    }

    /** Memory for a tensor on the device. */
    DeviceMemory forResult(long bytes) {
        return residents.take(bytes);
    }

    private GpuResident resident(DeviceMemory memory) {
        return new GpuResident(info.backend() + ":" + info.ordinal(), context, memory, residents, streams);
    }

    @Override
    public MemoryReport memory() {
        return ledger.report();
    }

    /** Frees what tensors still hold, too, once nothing works on it. */
    @Override
    public void close() {
        Closing closing = new Closing();
        closing.step(residents::close);
        closing.step(streams::close);
        closing.step(host::close);
        closing.step(libraries::close);
        closing.step(modules::close);
        closing.step(context::close);
        closing.end();
    }
}
