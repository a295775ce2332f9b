package dev.tenon.nativelib.emulated;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tenon.core.error.NativeException;
import dev.tenon.nativelib.Downcalls;
import dev.tenon.nativelib.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The runtime's functions. The object stays loaded as long as the process: its handlers of signals must. Thread-safe.
 */
public final class EmulatorLibrary {
    private static final int MESSAGE_BYTES = 4096;
    private static final int LONGEST_NAME = 4096;

    private final NativeLibrary library;
    private final MethodHandle openPool;
    private final MethodHandle closePool;
    private final MethodHandle allocate;
    private final MethodHandle free;
    private final MethodHandle load;
    private final MethodHandle unload;
    private final MethodHandle entry;
    private final MethodHandle launch;
    private final MethodHandle orderBegin;
    private final MethodHandle orderNote;

    /**
     * Loads the object.
     *
     * @throws NativeException when it is no whole library, the host's loader refuses it, or it lacks a function
     */
    public EmulatorLibrary(Path object) {
        library = NativeLibrary.open(object);
        openPool = bind("tenon_pool_open", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
        closePool = bind("tenon_pool_close", FunctionDescriptor.ofVoid(JAVA_LONG));
        allocate = bind("tenon_allocate", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT));
        free = bind("tenon_free", FunctionDescriptor.ofVoid(JAVA_LONG));
        load = bind("tenon_module_load", status(ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
        unload = bind("tenon_module_unload", FunctionDescriptor.ofVoid(JAVA_LONG));
        entry = bind("tenon_module_entry", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS));
        launch = bind("tenon_launch", status(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
        orderBegin = bind("tenon_order_begin", status());
        orderNote = bind("tenon_order_note", status(JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS));
    }

    private static FunctionDescriptor status(MemoryLayout... arguments) {
        return Downcalls.status(arguments);
    }

    private MethodHandle bind(String name, FunctionDescriptor descriptor) {
        return Downcalls.handle(library.require(name), descriptor);
    }

    /** Starts worker threads. @throws NativeException when the host has no more */
    public long openPool(int workers, long watchdogMilliseconds, long spinMilliseconds) {
        try {
            long pool = (long) openPool.invokeExact(workers, watchdogMilliseconds, spinMilliseconds);
            if (pool == 0) {
                throw new NativeException("emulator: the host has no threads for " + workers + " workers");
            }
            return pool;
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /** Ends the threads, after the launches that run. */
    public void closePool(long pool) {
        try {
            closePool.invokeExact(pool);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /** Device memory; filled with {@code 0xff} when {@code poison}. @return 0 when the host has no more */
    public long allocate(long bytes, boolean poison) {
        try {
            return (long) allocate.invokeExact(bytes, poison ? 1 : 0);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    public void free(long address) {
        try {
            free.invokeExact(address);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /** Loads a kernel object. @throws NativeException with the loader's words */
    public LoadedObject load(Path object) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment handle = arena.allocate(JAVA_LONG);
            MemorySegment shared = arena.allocate(JAVA_INT);
            MemorySegment message = arena.allocate(MESSAGE_BYTES);
            int count = (int)
                    load.invokeExact(arena.allocateFrom(object.toString()), handle, shared, message, MESSAGE_BYTES);
            if (count < 0) {
                throw new NativeException("emulator: dlopen(" + object + ") failed: " + message.getString(0));
            }
            long module = handle.get(JAVA_LONG, 0);
            Map<String, EntryPoint> entries = new LinkedHashMap<>();
            for (int i = 0; i < count; i++) {
                EntryPoint point = describe(module, i, arena);
                entries.put(point.name(), point);
            }
            return new LoadedObject(module, shared.get(JAVA_INT, 0), entries);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    private EntryPoint describe(long module, int number, Arena arena) throws Throwable {
        MemorySegment description = arena.allocate(24, 8);
        long address = (long) entry.invokeExact(module, number, description);
        int parameters = description.get(JAVA_INT, 16);
        MemorySegment sizes = memory(description.get(JAVA_LONG, 8), (long) parameters * Integer.BYTES);
        List<Integer> bytes = new ArrayList<>(parameters);
        for (int i = 0; i < parameters; i++) {
            bytes.add(sizes.getAtIndex(JAVA_INT, i));
        }
        String name = Downcalls.string(description.get(JAVA_LONG, 0), LONGEST_NAME);
        return new EntryPoint(address, name, List.copyOf(bytes), description.get(JAVA_INT, 20) != 0);
    }

    public void unload(LoadedObject object) {
        try {
            unload.invokeExact(object.handle());
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /**
     * Runs a kernel to its end.
     *
     * @param grid blocks along x, y, z
     * @param block threads along x, y, z
     * @param arguments the bytes of all arguments, one behind the other
     * @param order what it comes after, for the check of order between streams; null for no check
     * @return null when all went well
     */
    public @Nullable KernelFault launch(
            long pool,
            LoadedObject object,
            EntryPoint point,
            int[] grid,
            int[] block,
            int sharedBytes,
            boolean cooperative,
            MemorySegment arguments,
            @Nullable StreamOrder order) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment what = arena.allocate(56, 8);
            what.set(JAVA_LONG, 0, point.address());
            what.set(JAVA_LONG, 8, object.handle());
            for (int i = 0; i < 3; i++) {
                what.setAtIndex(JAVA_INT, 4 + i, grid[i]);
                what.setAtIndex(JAVA_INT, 7 + i, block[i]);
            }
            what.set(JAVA_INT, 40, sharedBytes);
            what.set(JAVA_INT, 44, cooperative ? 1 : 0);
            what.set(JAVA_LONG, 48, order == null ? 0 : order.write(arena).address());
            MemorySegment pointers = spread(point, arguments, arena);
            MemorySegment fault = FaultLayout.allocate(arena);
            int status = (int) launch.invokeExact(pool, what, pointers, fault);
            return status == 0 ? null : FaultLayout.read(fault);
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /**
     * Checks the order between streams from now on, for launches that have one.
     *
     * @throws NativeException when the host has no room for the records
     */
    public void checkOrder() {
        try {
            if ((int) orderBegin.invokeExact() == 0) {
                throw new NativeException(
                        "emulator: the host has no addresses left for the check of order between streams");
            }
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    /**
     * Notes an access of work that is no kernel.
     *
     * @return the stream whose work it races with; -1 for none
     */
    public int noteOrder(long address, long bytes, boolean writes, StreamOrder order) {
        try (Arena arena = Arena.ofConfined()) {
            return (int) orderNote.invokeExact(address, bytes, writes ? 1 : 0, order.write(arena)) - 1;
        } catch (Throwable e) {
            throw Downcalls.rethrow(e);
        }
    }

    private static MemorySegment spread(EntryPoint point, MemorySegment arguments, Arena arena) {
        int count = point.parameterBytes().size();
        MemorySegment pointers = arena.allocate(JAVA_LONG, Math.max(count, 1));
        int at = 0;
        for (int i = 0; i < count; i++) {
            int bytes = point.parameterBytes().get(i);
            MemorySegment value = arena.allocate(bytes, 128); // a tensor map's alignment, the largest there is
            MemorySegment.copy(arguments, at, value, 0, bytes);
            pointers.setAtIndex(JAVA_LONG, i, value.address());
            at += bytes;
        }
        return pointers;
    }

    /** Memory that the runtime handed out, or that a caller's slab points to. */
    @SuppressWarnings("restricted") // the runtime says that it is there
    public static MemorySegment memory(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /** The same, accessible until the arena closes. */
    @SuppressWarnings("restricted")
    public static MemorySegment memory(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }
}
