package dev.tenon.emulator;

import dev.tenon.core.error.DeviceLostException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.nativelib.emulated.EmulatorLibrary;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What the contexts of one device share: its workers, its memory, the fault that ended it. Thread-safe. */
final class EmulatedDevice {
    private final EmulatorLibrary library;
    private final EmulatorOptions options;
    private final DeviceProperties properties;
    private final long pool;
    private final @Nullable OrderCheck order;
    private final AtomicLong used = new AtomicLong();
    private volatile @Nullable String fault;
    private int contexts = 1;

    EmulatedDevice(EmulatorLibrary library, EmulatorOptions options, DeviceProperties properties) {
        this.library = library;
        this.options = options;
        this.properties = properties;
        if (options.ordered()) {
            library.checkOrder();
        }
        order = options.ordered() ? new OrderCheck() : null;
        pool = library.openPool(
                options.workers(),
                options.watchdog().toMillis(),
                options.patience().toMillis());
    }

    /** Counts one context more. @return false when the device is closed or lost: then another one is made */
    synchronized boolean retain() {
        if (contexts == 0 || fault != null) {
            return false;
        }
        contexts++;
        return true;
    }

    synchronized void release() {
        if (--contexts == 0) {
            library.closePool(pool);
        }
    }

    EmulatorLibrary library() {
        return library;
    }

    /** The check of order between streams; null where there is none. */
    @Nullable
    OrderCheck order() {
        return order;
    }

    /** A clock for a stream; null where the order is not checked. */
    @Nullable
    OrderClock newClock() {
        return order == null ? null : order.newClock();
    }

    /** The host has waited for all that is in a clock. */
    void hostWaited(@Nullable OrderClock clock) {
        if (order != null && clock != null) {
            order.waited(clock.copy());
        }
    }

    DeviceProperties properties() {
        return properties;
    }

    boolean healthy() {
        return fault == null;
    }

    /** Notes the first fault; those that follow from it do not replace it. */
    synchronized void lose(String why) {
        if (fault == null) {
            fault = why;
        }
    }

    /** @throws DeviceLostException naming the first fault */
    void check() {
        String why = fault;
        if (why != null) {
            throw new DeviceLostException(why + "; the emulated device is lost: close the context and open a new one");
        }
    }

    GpuContext.MemoryInfo memoryInfo() {
        return new GpuContext.MemoryInfo(options.memoryBytes() - used.get(), options.memoryBytes());
    }

    long allocate(long bytes) {
        if (bytes < 0) {
            throw new NativeException("emulator: allocation of " + bytes + " bytes");
        }
        long before = used.getAndUpdate(now -> bytes > options.memoryBytes() - now ? now : now + bytes);
        if (bytes > options.memoryBytes() - before) {
            throw new OutOfMemoryException(
                    "emulator:" + properties.ordinal() + ": " + bytes + " bytes asked for, "
                            + (options.memoryBytes() - before) + " free of " + options.memoryBytes()
                            + " (TENON_EMULATOR_MEMORY)",
                    bytes);
        }
        long address = library.allocate(bytes, options.checked());
        if (address == 0) {
            used.addAndGet(-bytes);
            throw new OutOfMemoryException(
                    "emulator:" + properties.ordinal() + ": " + bytes
                            + " bytes asked for, and the host has no more memory",
                    bytes);
        }
        return address;
    }

    /** Memory of the host that kernels may use by its address; counts for no device's memory. */
    long allocateHost(long bytes) {
        long address = library.allocate(bytes, options.checked());
        if (address == 0) {
            throw new OutOfMemoryException(
                    "emulator:" + properties.ordinal() + ": " + bytes + " bytes of host memory asked for", bytes);
        }
        return address;
    }

    void freeHost(long address) {
        library.free(address);
    }

    void free(long address, long bytes) {
        library.free(address);
        used.addAndGet(-bytes);
    }

    long pool() {
        return pool;
    }
}
