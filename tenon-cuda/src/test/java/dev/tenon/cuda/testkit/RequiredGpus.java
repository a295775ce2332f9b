package dev.tenon.cuda.testkit;

import dev.tenon.cuda.collective.GpuGroup;
import dev.tenon.cuda.driver.CudaDriver;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * Skips tests where there are too few GPUs, counts and prints the skips, and fails instead where the environment says
 * that there must be some: {@code TENON_REQUIRE_GPU=1}, {@code TENON_REQUIRE_GPUS=2}.
 */
public final class RequiredGpus {
    private static final AtomicInteger SKIPPED = new AtomicInteger();

    private RequiredGpus() {}

    /** A device of that number. */
    public static void device(int ordinal) {
        CudaDriver driver = new CudaDriver();
        String reason = driver.unavailable();
        if (reason.isEmpty() && driver.devices().size() <= ordinal) {
            reason = "only " + driver.devices().size() + " devices";
        }
        boolean wanted = ordinal == 0 ? "1".equals(System.getenv("TENON_REQUIRE_GPU")) : required() > ordinal;
        skip(reason, wanted, "GPU test");
    }

    /** That many GPUs and NCCL. */
    public static void group(int count) {
        CudaDriver driver = new CudaDriver();
        String reason = !driver.unavailable().isEmpty()
                ? driver.unavailable()
                : driver.devices().size() < count
                        ? count + " GPUs are needed, there are "
                                + driver.devices().size()
                        : GpuGroup.unavailable();
        skip(reason, System.getenv("TENON_REQUIRE_GPUS") != null && required() >= count, "test of several GPUs");
    }

    private static int required() {
        return Integer.parseInt(System.getenv().getOrDefault("TENON_REQUIRE_GPUS", "1"));
    }

    private static void skip(String reason, boolean wanted, String what) {
        if (reason.isEmpty()) {
            return;
        }
        if (wanted) {
            Assertions.fail("the environment requires this many GPUs, and " + reason);
        }
        System.out.println(what + " skipped (" + SKIPPED.incrementAndGet() + " so far): " + reason);
        Assumptions.abort(reason);
    }
}
