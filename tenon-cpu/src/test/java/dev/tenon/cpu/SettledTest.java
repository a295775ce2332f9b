package dev.tenon.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.op.UnaryFn;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A loop that was asked for is pending until it is decided on. */
class SettledTest {
    @Test
    void askedForThenDecided() {
        Assumptions.assumeTrue(
                Vectors.AVAILABLE && Vectors.mode().equals(Vectors.AUTO), "vector loops are not exchanged in this JVM");
        HotLoop loop = HotLoops.of(UnaryFn.LOG);
        Assumptions.assumeTrue(!loop.ready(), "another test has used it already");
        assertThat(WarmUp.pending()).isPositive();
        long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
        while (WarmUp.pending() > 0 && System.nanoTime() < end) {
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(WarmUp.pending()).isZero();
        assertThat(loop.isWaiting()).isFalse();
    }
}
