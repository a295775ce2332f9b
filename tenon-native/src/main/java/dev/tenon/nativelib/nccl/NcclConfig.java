package dev.tenon.nativelib.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@code ncclConfig_t} in its first form, of NCCL 2.14, which every later version still takes by its size and version
 * and fills up with defaults.
 */
public final class NcclConfig {
    private static final int BYTES = 24;
    private static final int MAGIC = 0xcafebeef;
    private static final int VERSION = 21400;
    private static final int MAGIC_AT = 8;
    private static final int VERSION_AT = 12;
    private static final int BLOCKING_AT = 16;
    private static final int PADDING_AT = 20;

    private NcclConfig() {}

    /**
     * @param blocking whether calls return when their part on the host is done; otherwise they may answer
     *     {@link NcclConstants#IN_PROGRESS}
     */
    public static MemorySegment allocate(Arena arena, boolean blocking) {
        MemorySegment config = arena.allocate(BYTES, Long.BYTES);
        config.set(ValueLayout.JAVA_LONG, 0, BYTES);
        config.set(ValueLayout.JAVA_INT, MAGIC_AT, MAGIC);
        config.set(ValueLayout.JAVA_INT, VERSION_AT, VERSION);
        config.set(ValueLayout.JAVA_INT, BLOCKING_AT, blocking ? 1 : 0);
        config.set(
                ValueLayout.JAVA_INT,
                PADDING_AT,
                Integer.MIN_VALUE); // NCCL's word for "not set", should it be read as the next field
        return config;
    }
}
