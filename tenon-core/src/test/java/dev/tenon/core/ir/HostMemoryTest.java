package dev.tenon.core.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class HostMemoryTest {
    private static final long PIECE = 8 << 20;

    /** Without collections asked for, as much as the largest heap would be held before the JVM itself asks for one. */
    @Test
    void droppedMemoryDoesNotPileUp() {
        long limit = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 8);
        long pieces = Math.min(4 * limit, 8L << 30) / PIECE;
        long most = 0;
        for (long i = 0; i < pieces; i++) {
            HostMemory.allocate(PIECE, 64).set(ValueLayout.JAVA_LONG, 0, i);
            most = Math.max(most, HostMemory.held());
        }
        // twice, for what other tests hold may have raised the threshold
        assertThat(most).isLessThanOrEqualTo(2 * limit + PIECE);
    }

    @Test
    void liveMemoryStaysAndIsCounted() {
        long before = HostMemory.held();
        List<MemorySegment> live = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            MemorySegment piece = HostMemory.allocate(PIECE, 64);
            piece.set(ValueLayout.JAVA_LONG, PIECE - 8, i);
            live.add(piece.asSlice(PIECE - 8)); // a slice keeps the whole
        }
        System.gc();
        assertThat(HostMemory.held()).isGreaterThanOrEqualTo(24 * PIECE).isLessThanOrEqualTo(before + 24 * PIECE);
        for (int i = 0; i < live.size(); i++) {
            assertThat(live.get(i).get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
        }
    }
}
