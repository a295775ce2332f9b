package dev.tenon.cuda.driver;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.ModuleImage;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.DriverVersion;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuLibrary;
import dev.tenon.nativelib.cuda.CuModule;
import dev.tenon.nativelib.cuda.CuStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A loaded image. */
final class CudaModule extends Owned implements GpuModule {
    private static final int LOG_BYTES = 8192;
    private static final int NAME_BYTES = 4096;
    private static final int INVALID_SOURCE = 300;
    private static final int JIT_COMPILATION_DISABLED = 223;

    private final long handle;
    private final String name;
    private final Map<String, CudaFunction> functions = new ConcurrentHashMap<>();

    private CudaModule(CudaContext context, long handle, String name) {
        super(context);
        this.handle = handle;
        this.name = name;
    }

    /** Within a section of the context. */
    static CudaModule load(CudaContext context, ModuleImage image) throws ImageRejected {
        if (image.format() == ModuleImage.Format.OBJECT) {
            throw new InputException(image.name() + ": an object for the host cannot be loaded onto "
                    + context.primary().name());
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment module = arena.allocate(ValueLayout.JAVA_LONG);
            MemorySegment log = arena.allocate(LOG_BYTES);
            MemorySegment names = arena.allocateFrom(
                    ValueLayout.JAVA_INT,
                    CuConstants.JIT_ERROR_LOG_BUFFER,
                    CuConstants.JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
            MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_LONG, log.address(), LOG_BYTES);
            int status = CuModule.cuModuleLoadDataEx(
                    module.address(), bytes(image, arena), 2, names.address(), values.address());
            if (status != 0) {
                String text = log.getString(0).strip().replace('\n', ' ');
                String said = text.isEmpty() ? "" : ": " + text;
                if (anotherImageMayDo(status)) {
                    throw new ImageRejected(CuStatus.CHECK.message(
                                    status, "cuModuleLoadDataEx(%s, %s)", image.name(), image.format())
                            + said + " (driver for CUDA " + DriverVersion.text(CuLibrary.version()) + ", device "
                            + context.device().architecture() + ")");
                }
                throw context.primary()
                        .failure(status, "cuModuleLoadDataEx(%s, %s)%s", image.name(), image.format(), said);
            }
            return new CudaModule(context, module.get(ValueLayout.JAVA_LONG, 0), image.name());
        }
    }

    private static boolean anotherImageMayDo(int status) {
        return switch (status) {
            case CuStatus.INVALID_IMAGE,
                    CuStatus.NO_BINARY_FOR_GPU,
                    CuStatus.INVALID_PTX,
                    CuStatus.JIT_COMPILER_NOT_FOUND,
                    CuStatus.UNSUPPORTED_PTX_VERSION,
                    JIT_COMPILATION_DISABLED,
                    INVALID_SOURCE -> true;
            default -> false;
        };
    }

    /** PTX is a string to the driver and has to end in a zero. */
    private static MemorySegment bytes(ModuleImage image, Arena arena) {
        MemorySegment bytes = image.bytes();
        boolean zero = bytes.byteSize() > 0 && bytes.get(ValueLayout.JAVA_BYTE, bytes.byteSize() - 1) == 0;
        if (bytes.isNative() && (image.format() != ModuleImage.Format.PTX || zero)) {
            return bytes;
        }
        MemorySegment copy = arena.allocate(bytes.byteSize() + 1, 16);
        MemorySegment.copy(bytes, 0, copy, 0, bytes.byteSize());
        return copy;
    }

    @Override
    public GpuFunction function(String entry) {
        CudaFunction known = functions.get(entry);
        if (known != null) {
            requireOpen();
            return known;
        }
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment function = arena.allocate(ValueLayout.JAVA_LONG);
            int status = CuModule.cuModuleGetFunction(
                    function.address(), handle, arena.allocateFrom(entry).address());
            if (status == CuStatus.NOT_FOUND) {
                throw new NativeException(name + " has no function \"" + entry + "\"" + entries(arena));
            }
            primary.check(status, "cuModuleGetFunction(%s, %s)", name, entry);
            CudaFunction made = new CudaFunction(this, entry, function.get(ValueLayout.JAVA_LONG, 0));
            CudaFunction first = functions.putIfAbsent(entry, made);
            return first == null ? made : first;
        } finally {
            exit();
        }
    }

    /** The functions there are, for messages; drivers before CUDA 12.4 do not tell. */
    private String entries(Arena arena) {
        MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
        if (!CuLibrary.has("cuModuleEnumerateFunctions", 12040)
                || CuModule.cuModuleGetFunctionCount(count.address(), handle) != 0) {
            return "";
        }
        int most = count.get(ValueLayout.JAVA_INT, 0);
        MemorySegment all = arena.allocate(ValueLayout.JAVA_LONG, Math.max(1, most));
        if (CuModule.cuModuleEnumerateFunctions(all.address(), most, handle) != 0) {
            return "";
        }
        List<String> names = new ArrayList<>();
        MemorySegment text = arena.allocate(ValueLayout.JAVA_LONG);
        for (int i = 0; i < most; i++) {
            if (CuModule.cuFuncGetName(text.address(), all.getAtIndex(ValueLayout.JAVA_LONG, i)) == 0) {
                names.add(Downcalls.string(text.get(ValueLayout.JAVA_LONG, 0), NAME_BYTES));
            }
        }
        return "; it has " + String.join(", ", names);
    }

    @Override
    String kind() {
        return "module " + name;
    }

    @Override
    void destroy() {
        primary.check(CuModule.cuModuleUnload(handle), "cuModuleUnload(%s)", name);
    }
}
