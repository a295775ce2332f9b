package dev.tenon.cpu.keys;

import dev.tenon.core.ir.DType;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.loops.HotLoop;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The vector loops over keys, with dummy data to warm them up on. Loaded only where there is a Vector API. */
public final class KeyHotLoops {
    private static final Lazy<KeyHotLoops> LOOPS = new Lazy<>() {
        @Override
        protected KeyHotLoops make() {
            return new KeyHotLoops();
        }
    };
    private static final long FOUND = 1 << 14;
    private static final int BLOCK = 1 << 11;

    private final MemorySegment data = Arena.ofShared().allocate(FOUND + 64, 64);
    private final List<HotLoop> byWidth = List.of(of(DType.I8), of(DType.F16), of(DType.F32), of(DType.F64));

    private KeyHotLoops() {}

    private HotLoop of(DType dtype) {
        Keys keys = Keys.ofOrder(dtype, true);
        int n = BLOCK / keys.width();
        return HotLoop.inMode(
                "keys of " + dtype.bits() + " bits",
                brief -> {
                    int count = brief ? VectorKeys.least(keys.width()) : n;
                    VectorKeys.largest(keys, data, 0, count, BLOCK, data, FOUND);
                    VectorKeys.next(keys, data, 0, 0, count, 0);
                },
                _ -> {
                    KeyLoops.plainLargest(keys, data, 0, n, BLOCK, data, FOUND);
                    PlainKeys.next(keys, data, 0, 0, n, 0);
                });
    }

    /** One object for the process. */
    public static KeyHotLoops get() {
        return LOOPS.get();
    }

    HotLoop of(int width) {
        return byWidth.get(Integer.numberOfTrailingZeros(width));
    }

    public static List<HotLoop> all() {
        return get().byWidth;
    }
}
