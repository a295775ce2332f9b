package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cpu.loops.HotLoop;
import dev.tenon.cpu.loops.WarmUp;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A loop that was asked for is pending until it is decided on. */
class SettledTest {
    private static final AtomicInteger SINK = new AtomicInteger();

    @Test
    void askedForThenDecided() {
        HotLoop loop = new HotLoop("plain", _ -> {}, _ -> slow());
        loop.request();
        int pending = WarmUp.pending(); // a decision takes some ten milliseconds, less than a first assertion
        boolean ready = loop.ready();
        assertThat(pending).isPositive();
        assertThat(ready).isFalse();
        long end = System.nanoTime() + Duration.ofMinutes(5).toNanos();
        while (WarmUp.pending() > 0 && System.nanoTime() < end) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(WarmUp.pending()).isZero(); // those of other tests too
        assertThat(loop.ready()).isTrue();
    }

    private static void slow() {
        int sum = SINK.get();
        for (int i = 0; i < 1000; i++) {
            sum = sum * 31 + i;
        }
        SINK.set(sum);
    }
}
