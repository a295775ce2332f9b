package dev.tenon.core.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.lazy.CleanerThread;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LeakWatchTest {
    private static final Logger LOGGER = Logger.getLogger("dev.tenon");

    /** What was reported while this test ran; the logger is also held strongly through it. */
    private static final class Records extends Handler {
        final List<String> owners = new CopyOnWriteArrayList<>();

        @Override
        public void publish(LogRecord one) {
            if (one.getMessage().contains("became unreachable without close()")) {
                owners.add(String.valueOf(one.getParameters()[0]));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private final Records records = new Records();

    @BeforeEach
    void listen() {
        LOGGER.addHandler(records);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(records);
    }

    /** Returns when an object made and dropped here has been cleaned up. */
    private static void awaitCleaning() throws InterruptedException {
        CountDownLatch cleaned = new CountDownLatch(1);
        CleanerThread.register(new Object(), cleaned::countDown);
        do {
            System.gc();
        } while (!cleaned.await(10, TimeUnit.MILLISECONDS));
    }

    private void awaitReport(String owner) throws InterruptedException {
        while (!records.owners.contains(owner)) {
            awaitCleaning();
        }
    }

    @Test
    void droppedOwnerIsReportedOnce() throws Exception {
        LeakWatch.over(new Object(), "Tensor(dropped)");
        awaitReport("Tensor(dropped)");
        awaitCleaning();
        assertThat(records.owners).filteredOn("Tensor(dropped)"::equals).hasSize(1);
    }

    @Test
    void closedOwnerIsNotReported() throws Exception {
        LeakWatch.over(new Object(), "Tensor(closed)").closed();
        LeakWatch.over(new Object(), "Tensor(left open)");
        awaitReport("Tensor(left open)");
        awaitCleaning(); // the closed one, dropped before it, has had its turn by now
        assertThat(records.owners).doesNotContain("Tensor(closed)");
    }

    @Test
    void reachableOwnerIsNotReported() throws Exception {
        Object owner = new Object();
        LeakWatch watch = LeakWatch.over(owner, "Tensor(reachable)");
        awaitCleaning();
        assertThat(records.owners).doesNotContain("Tensor(reachable)");
        watch.closed();
        java.lang.ref.Reference.reachabilityFence(owner);
    }
}
