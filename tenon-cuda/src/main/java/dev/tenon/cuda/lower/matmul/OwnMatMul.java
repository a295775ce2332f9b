package dev.tenon.cuda.lower.matmul;

import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import java.util.List;

/**
 * A product by one of our kernels for its sizes, its epilogue included; one launch unless the batch has more dims than
 * the kernel counts. Immutable.
 *
 * @param works one launch for each part of the batch
 * @param workspaceBytes of sums that blocks hand on
 * @param counterBytes of counters that blocks meet at
 */
record OwnMatMul(
        String tier, List<String> passedOver, List<PreparedLaunch> works, long workspaceBytes, long counterBytes)
        implements GpuStep {
    OwnMatMul {
        passedOver = List.copyOf(passedOver);
        works = List.copyOf(works);
    }

    @Override
    public void enqueue(GpuFrame frame) {
        for (int i = 0; i < works.size(); i++) {
            works.get(i).enqueue(frame);
        }
    }
}
