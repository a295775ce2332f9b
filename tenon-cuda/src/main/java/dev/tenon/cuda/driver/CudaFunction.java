package dev.tenon.cuda.driver;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.NativeException;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.nativelib.cuda.CuConstants;
import dev.tenon.nativelib.cuda.CuLibrary;
import dev.tenon.nativelib.cuda.CuModule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** An entry of a module. */
final class CudaFunction implements GpuFunction {
    private static final int UNKNOWN = -1;
    private static final int PORTABLE_CLUSTER = 8;

    private final CudaModule module;
    private final String name;
    private final long handle;
    private final int parameters;
    private volatile @Nullable Resources resources;
    private volatile int allowedSharedBytes;
    private volatile boolean largeClusters;

    /** Within a section of the module. */
    CudaFunction(CudaModule module, String name, long handle) {
        this.module = module;
        this.name = name;
        this.handle = handle;
        this.parameters = countParameters(handle);
    }

    /**
     * The driver takes as many pointers as the kernel has parameters, whether they are there or not; older ones than
     * CUDA 12.4 do not tell how many.
     */
    private static int countParameters(long function) {
        if (!CuLibrary.has("cuFuncGetParamInfo", 12040)) {
            return UNKNOWN;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, 2);
            int count = 0;
            while (CuModule.cuFuncGetParamInfo(function, count, out.address(), out.address() + Long.BYTES) == 0) {
                count++;
            }
            return count;
        }
    }

    @Override
    public String name() {
        return name;
    }

    long handle() {
        module.requireOpen();
        return handle;
    }

    CudaContext context() {
        return module.context;
    }

    /**
     * Dynamic shared memory that a launch may ask for: what was allowed, or what the usual limit leaves beside the
     * kernel's static memory.
     */
    int allowedSharedBytes() {
        return Math.max(
                allowedSharedBytes,
                module.context.device().sharedBytesPerBlock() - resources().sharedBytes());
    }

    /** @throws InputException unless there is an argument for each parameter */
    void requireArguments(KernelArguments arguments) {
        if (parameters != UNKNOWN && arguments.count() != parameters) {
            throw new InputException("launch of " + name + ": " + arguments.count() + " arguments; the kernel has "
                    + parameters + " parameters");
        }
    }

    @Override
    public Resources resources() {
        Resources known = resources;
        if (known != null) {
            return known;
        }
        module.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            Resources read = new Resources(
                    attribute(out, CuConstants.FUNC_ATTRIBUTE_NUM_REGS),
                    attribute(out, CuConstants.FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                    attribute(out, CuConstants.FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                    attribute(out, CuConstants.FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
            resources = read;
            return read;
        } finally {
            module.exit();
        }
    }

    private int attribute(MemorySegment out, int attribute) {
        module.primary.check(
                CuModule.cuFuncGetAttribute(out.address(), attribute, handle),
                "cuFuncGetAttribute(%s, attribute=%d)",
                name,
                attribute);
        return out.get(ValueLayout.JAVA_INT, 0);
    }

    @Override
    public synchronized void allowSharedBytes(int bytes) {
        if (bytes <= allowedSharedBytes()) {
            return;
        }
        int most =
                module.context.device().sharedBytesPerBlockOptIn() - resources().sharedBytes();
        if (bytes > most) {
            throw new NativeException(name + ": " + bytes + " bytes of dynamic shared memory asked for; "
                    + module.primary.name() + " allows " + most + " beside what the kernel has statically");
        }
        set(CuConstants.FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
        allowedSharedBytes = bytes;
    }

    /** Clusters of more than 8 blocks have to be allowed; not every device of the kind then has room for them. */
    synchronized void allowCluster(int blocks) {
        if (blocks > PORTABLE_CLUSTER && !largeClusters) {
            set(CuConstants.FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
            largeClusters = true;
        }
    }

    private void set(int attribute, int value) {
        module.enter();
        try {
            module.primary.check(
                    CuModule.cuFuncSetAttribute(handle, attribute, value),
                    "cuFuncSetAttribute(%s, attribute=%d, value=%d)",
                    name,
                    attribute,
                    value);
        } finally {
            module.exit();
        }
    }

    @Override
    public int blocksPerMultiprocessor(int blockThreads, int sharedBytes) {
        module.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment blocks = arena.allocate(ValueLayout.JAVA_INT);
            module.primary.check(
                    CuModule.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                            blocks.address(), handle, blockThreads, sharedBytes),
                    "cuOccupancyMaxActiveBlocksPerMultiprocessor(%s, threads=%d, shared=%d)",
                    name,
                    blockThreads,
                    sharedBytes);
            return blocks.get(ValueLayout.JAVA_INT, 0);
        } finally {
            module.exit();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
