package dev.tenon.cpu.plan;

import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.MemoryLedger;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.TensorType;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.step.LedgerMemory;
import dev.tenon.cpu.step.LoweringContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The constants of one model in the forms that its steps read: as they lie, copied, or packed for a kernel. Each form is made once, whatever the number of plans. Closing frees them at once, so nothing may run then.
 *
 * <p>Thread-safe.
 */
public final class CpuWeights implements Device.Weights {
    private static final String DENSE = "dense";

    /** Owns no arena, so what it may read every thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    /** Equal data is the same memory of the same type (or an equal splat), so a weight that two nodes use is packed once. */
    private record Key(ConstantData data, String layout) {}

    /** Constants of a mapped file above this size are used where they lie. */
    private static final long MAPPED_BYTES = 4 << 20;

    private final MemoryLedger ledger;
    private final Arena arena = Arena.ofShared();
    private final Map<Key, MemorySegment> made = new HashMap<>();
    private long bytes;
    private boolean closed;

    public CpuWeights(MemoryLedger ledger) {
        this.ledger = ledger;
    }

    /**
     * All elements of a constant. Large dense data stays where it lies, in the mapped file: a table of embeddings costs the pages of the rows that are looked up. Vector loops take no mapped memory ({@link Segments}), so the smaller
     * constants, which they do read, are copied.
     */
    MemorySegment dense(ConstantData data) {
        return switch (data) {
            case ConstantData.Dense(TensorType _, MemorySegment segment) ->
                isUsable(segment) || staysMapped(segment)
                        ? segment
                        : prepared(
                                data,
                                DENSE,
                                _ -> new LoweringContext.Prepared(segment.byteSize(), to -> to.copyFrom(segment)));
            case ConstantData.Splat splat ->
                prepared(
                        data,
                        DENSE,
                        _ -> new LoweringContext.Prepared(splat.type().bytes(), to -> splat.fill(to)));
        };
    }

    private static boolean staysMapped(MemorySegment segment) {
        return segment.isMapped() && segment.isAccessibleBy(ANY_THREAD) && segment.byteSize() > MAPPED_BYTES;
    }

    /** Whether all kernels can read the memory as it is, on any thread: outside the heap, not mapped, not confined. They read at any alignment. */
    static boolean isUsable(MemorySegment segment) {
        return segment.isNative() && !segment.isMapped() && segment.isAccessibleBy(ANY_THREAD);
    }

    synchronized MemorySegment prepared(
            ConstantData data, String layout, Function<ConstantData, LoweringContext.Prepared> make) {
        if (closed) {
            throw new ClosedException("the model is closed");
        }
        Key key = new Key(data, layout);
        MemorySegment known = made.get(key);
        if (known != null) {
            return known;
        }
        LoweringContext.Prepared form = make.apply(data);
        MemorySegment segment = LedgerMemory.allocate(
                ledger, arena, form.bytes(), MemoryLedger.Use.WEIGHTS, "constant " + data.type() + " as " + layout);
        bytes += form.bytes();
        form.fill().accept(segment);
        MemorySegment readOnly = segment.asReadOnly();
        made.put(key, readOnly);
        return readOnly;
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
        made.clear();
        arena.close();
        ledger.release(MemoryLedger.Use.WEIGHTS, bytes);
        bytes = 0;
    }
}
