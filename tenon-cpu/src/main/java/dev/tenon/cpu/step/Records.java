package dev.tenon.cpu.step;

import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.MemorySegment;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The places and matrices that a worker gave to kernels before, to be given again: a run's memory is mostly that of the
 * run before, and so a run allocates none of them. Those of inputs and outputs, which change from run to run, are not
 * kept. Of one worker and frame; not thread-safe.
 */
public final class Records {
    /** Entries that a hash may lie in. */
    private static final int WAYS = 4;

    private static final int FEWEST = 64;
    private static final int MOST = 8192;

    private final CpuFrame frame;
    private @Nullable Matrix[] matrices = new @Nullable Matrix[0];
    private int made;
    private @Nullable Place[] places = new @Nullable Place[0];
    private final IdentityHashMap<Object, Object> others = new IdentityHashMap<>();

    Records(CpuFrame frame) {
        this.frame = frame;
    }

    /** Rows at that place: made before, or now. */
    public Matrix matrix(MemorySegment memory, long offset, long stride) {
        if (matrices.length > 0) {
            int at = hash(memory, offset * 31 + stride, matrices.length);
            for (int entry = at; entry < at + WAYS; entry++) {
                Matrix kept = matrices[entry];
                if (kept != null && kept.offset() == offset && kept.stride() == stride && same(kept.memory(), memory)) {
                    return kept;
                }
            }
        }
        Matrix fresh = new Matrix(memory, offset, stride);
        if (!frame.isBound(memory)) {
            keep(fresh);
        }
        return fresh;
    }

    /** In a table that grows with what was made: half of it at most is full then. */
    private void keep(Matrix fresh) {
        made++;
        if (2 * made > matrices.length && matrices.length < MOST) {
            @Nullable Matrix[] before = matrices;
            matrices = new @Nullable Matrix[Math.max(FEWEST, 2 * before.length)];
            for (Matrix kept : before) {
                if (kept != null) {
                    place(kept);
                }
            }
        }
        place(fresh);
    }

    /** The oldest of the entries of its hash makes room. */
    private void place(Matrix fresh) {
        int at = hash(fresh.memory(), fresh.offset() * 31 + fresh.stride(), matrices.length);
        System.arraycopy(matrices, at, matrices, at + 1, WAYS - 1);
        matrices[at] = fresh;
    }

    /** The place: made before, or now. */
    public Place place(MemorySegment memory, long offset) {
        if (places.length == 0) {
            places = new @Nullable Place[2 * FEWEST];
        }
        int at = hash(memory, offset, places.length);
        for (int entry = at; entry < at + WAYS; entry++) {
            Place kept = places[entry];
            if (kept != null && kept.offset() == offset && same(kept.memory(), memory)) {
                return kept;
            }
        }
        Place fresh = new Place(memory, offset);
        if (!frame.isBound(memory)) {
            System.arraycopy(places, at, places, at + 1, WAYS - 1);
            places[at] = fresh;
        }
        return fresh;
    }

    /** What a step kept here last, or null. It keeps nothing that refers to inputs or outputs. */
    public @Nullable Object kept(Object step) {
        return others.get(step);
    }

    /** Keeps something of a step's until it keeps something else. */
    public void keep(Object step, Object what) {
        others.put(step, what);
    }

    /**
     * Whether two segments are the same memory. Equal ones begin at the same place, but may differ in size, and one may
     * be of an arena that is closed.
     */
    public static boolean same(MemorySegment one, MemorySegment other) {
        return one.equals(other)
                && one.byteSize() == other.byteSize()
                && one.scope().equals(other.scope())
                && one.isReadOnly() == other.isReadOnly();
    }

    /** Whether what refers to that memory may be kept. */
    public boolean lasts(MemorySegment memory) {
        return !frame.isBound(memory);
    }

    private static int hash(MemorySegment memory, long number, int entries) {
        long mixed = (memory.address() + number * 0x9E37_79B9L) * 0x9E37_79B9_7F4A_7C15L;
        return (int) (mixed >>> 40) & (entries - WAYS);
    }
}
