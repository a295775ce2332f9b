package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

class HotLoopTest {
    private static void spin(long nanos) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos) {
            Thread.onSpinWait();
        }
    }

    @Test
    void isReadyOnceItIsFaster() {
        int[] calls = new int[1];
        HotLoop loop = new HotLoop("test", _ -> spin(calls[0]++ < 20 ? 500_000 : 2_000), _ -> spin(50_000));
        assertThat(loop.toString()).isEqualTo("test cold");
        for (int i = 0; i < 200 && !loop.toString().equals("test ready"); i++) {
            if (i == 0) {
                assertThat(loop.ready()).isFalse(); // asks for it: from here on the warm-up thread runs it as well
            }
            spin(1_000_000);
        }
        for (int i = 0; i < 500 && !loop.ready(); i++) {
            spin(10_000_000);
        }
        assertThat(loop.ready()).isTrue();
    }

    @Test
    void isNotReadyWhileItIsSlower() {
        HotLoop loop = new HotLoop("test", _ -> spin(3_000), _ -> spin(2_000));
        for (int i = 0; i < 10; i++) {
            loop.batch();
            assertThat(loop.isWaiting()).isFalse();
        }
        loop.refuse();
        assertThat(loop.ready()).isFalse();
        loop.adopt();
        assertThat(loop.ready()).isTrue();
    }

    static boolean hasVectors() {
        return Vectors.available();
    }

    /** Each loop and its scalar twin run on the dummy data without a fault, tails and branches included. */
    @Test
    @EnabledIf("hasVectors")
    void everyLoopRuns() {
        for (HotLoop loop : HotLoops.all()) {
            loop.batch();
            assertThat(loop.batches()).isPositive();
        }
    }
}
