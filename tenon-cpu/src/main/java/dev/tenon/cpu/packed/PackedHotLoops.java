package dev.tenon.cpu.packed;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.loops.HotLoop;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The vector loops of packed weights, with dummy data to warm them up on. Loaded only where there is a Vector API. */
public final class PackedHotLoops {
    private static final Lazy<PackedHotLoops> LOOPS = new Lazy<>() {
        @Override
        protected PackedHotLoops make() {
            return new PackedHotLoops();
        }
    };
    private static final long X = 1 << 14;
    private static final long SUMS = 2 << 14;
    private static final int BLOCKS = 32;
    private static final int LARGE_BLOCKS = 4;

    private final MemorySegment data = Arena.ofShared().allocate(1 << 16, 64);
    final HotLoop q8 = HotLoop.inMode(
            "products with Q8_0",
            _ -> VectorPacked.q8(data, 0, data, X, BLOCKS),
            _ -> PackedLoops.q8(data, 0, data, X, BLOCKS));
    final HotLoop q4 = HotLoop.inMode(
            "products with Q4_0",
            _ -> VectorPacked.q4(data, 0, data, X, BLOCKS),
            _ -> PackedLoops.q4(data, 0, data, X, BLOCKS));
    final HotLoop q4k = HotLoop.inMode(
            "products with Q4_K",
            _ -> VectorPacked.q4k(data, 0, data, X, data, SUMS, LARGE_BLOCKS),
            _ -> PackedLoops.q4k(data, 0, data, X, data, SUMS, LARGE_BLOCKS));

    private PackedHotLoops() {}

    /** One object for the process. */
    public static PackedHotLoops get() {
        return LOOPS.get();
    }

    public static List<HotLoop> all() {
        return List.of(get().q8, get().q4, get().q4k);
    }
}
