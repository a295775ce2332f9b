package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that huge pages are asked for holds what is written to it, whether the system gives some or not. */
class PagesTest {
    @ParameterizedTest
    @ValueSource(longs = {64, 4096, 2 << 20, (2 << 20) + 4097, (9 << 20) - 8})
    void memoryIsZeroAndKeepsWhatIsWritten(long bytes) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment before = arena.allocate(64, 64);
            MemorySegment memory = arena.allocate(bytes, 64);
            MemorySegment behind = arena.allocate(64, 64);
            before.fill((byte) 7);
            behind.fill((byte) 8);

            Pages.back(memory);

            assertThat(memory.mismatch(arena.allocate(bytes, 64))).isEqualTo(-1);
            for (long at = 0; at + 8 <= bytes; at += 8) {
                memory.set(ValueLayout.JAVA_LONG, at, at * 31);
            }
            for (long at = 0; at + 8 <= bytes; at += 8) {
                if (memory.get(ValueLayout.JAVA_LONG, at) != at * 31) {
                    throw new AssertionError("byte " + at + " of " + bytes);
                }
            }
            assertThat(before.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
            assertThat(behind.toArray(ValueLayout.JAVA_BYTE)).containsOnly(8);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void memoryBesideItStaysAsItIs(long offset) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment all = arena.allocate((4 << 20) + 8192, 4096);
            MemorySegment part = all.asSlice(offset, 4 << 20);
            Pages.back(part);
            part.fill((byte) 5);
            assertThat(all.get(ValueLayout.JAVA_BYTE, offset + (4 << 20))).isZero();
        }
    }
}
