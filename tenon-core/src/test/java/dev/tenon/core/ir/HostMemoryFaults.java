package dev.tenon.core.ir;

import dev.tenon.core.testkit.FaultPoints;

/** Makes the allocations of host tensors and constants points that can fail, while something runs. */
public final class HostMemoryFaults {
    private HostMemoryFaults() {}

    /** Runs something; one at a time in a JVM. */
    public static void during(FaultPoints points, Runnable action) {
        HostMemory.admit(bytes -> {
            if (points.fails("host tensor")) {
                throw new OutOfMemoryError(FaultPoints.MARK + ": " + bytes + " bytes of a host tensor");
            }
        });
        try {
            action.run();
        } finally {
            HostMemory.admit(null);
        }
    }
}
