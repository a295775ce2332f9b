package dev.tenon.cuda.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WatchdogTest {
    @Test
    void anErrorOfOneRankEndsTheLookingAfterNoOther() throws InterruptedException {
        CountDownLatch failures = new CountDownLatch(2);
        CountDownLatch looks = new CountDownLatch(2);
        Watchdog.Watched failing = () -> {
            failures.countDown();
            throw new OutOfMemoryError("the heap is exhausted for a moment");
        };
        Watchdog.Watched healthy = looks::countDown;
        Watchdog.add(failing);
        Watchdog.add(healthy);
        try {
            assertThat(failures.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(looks.await(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            Watchdog.remove(failing);
            Watchdog.remove(healthy);
        }
    }
}
