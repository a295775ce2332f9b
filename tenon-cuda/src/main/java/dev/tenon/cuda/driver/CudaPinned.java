package dev.tenon.cuda.driver;

import dev.tenon.cuda.port.PinnedBuffer;
import dev.tenon.nativelib.cuda.CuMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Page-locked memory of the host; it knows the streams that copied from or to it, and waits for them before it goes.
 */
final class CudaPinned extends Owned implements PinnedBuffer {
    private static final ConcurrentSkipListMap<Long, CudaPinned> BY_ADDRESS = new ConcurrentSkipListMap<>();

    private static final long PAUSE_NANOS = 20_000;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final long address;
    private final Set<CudaStream> users = ConcurrentHashMap.newKeySet();

    CudaPinned(CudaContext context, long address, long bytes) {
        super(context);
        this.address = address;
        this.segment = CuMemory.hostMemory(address, bytes, arena);
        BY_ADDRESS.put(address, this);
    }

    /** The pinned memory that a segment lies in; null for other memory. */
    static @Nullable CudaPinned of(MemorySegment part) {
        Map.Entry<Long, CudaPinned> below = BY_ADDRESS.floorEntry(part.address());
        return below != null
                        && part.address() + part.byteSize()
                                <= below.getKey() + below.getValue().segment.byteSize()
                ? below.getValue()
                : null;
    }

    void usedBy(CudaStream stream) {
        users.add(stream);
    }

    @Override
    public MemorySegment segment() {
        requireOpen();
        return segment;
    }

    @Override
    String kind() {
        return "pinned buffer of " + segment.byteSize() + " bytes";
    }

    @Override
    void beforeDestroy() {
        BY_ADDRESS.remove(address);
        while (arena.scope().isAlive() && !primary.abandoned()) {
            try {
                arena.close();
            } catch (IllegalStateException _) {
                LockSupport.parkNanos(PAUSE_NANOS); // a call that uses the segment is in flight
            }
        }
    }

    @Override
    void destroy() {
        users.forEach(CudaStream::synchronizeFromOutside);
        users.clear();
        // the waits may have moved a virtual thread to another carrier
        primary.makeCurrent();
        primary.check(CuMemory.cuMemFreeHost(address), "cuMemFreeHost(bytes=%d)", segment.byteSize());
    }
}
