package dev.tenon.cuda.backend;

import dev.tenon.nativelib.Switches;
import dev.tenon.nativelib.nvtx.NvtxRanges;

/**
 * Ranges in the time lines of NVIDIA's profilers: {@code tenon::mat_mul node} from the first to the last call that a
 * step enqueues, {@code tenon::replay} around the launch of recorded work. On where a profiler has put its library
 * into the process ({@code NVTX_INJECTION64_PATH}) or {@code TENON_NVTX} is 1; else they cost a read.
 */
final class StepRanges {
    private static final boolean ON = Switches.on("TENON_NVTX", System.getenv("NVTX_INJECTION64_PATH") != null);

    private StepRanges() {}

    /** Begins a range. @return for {@link #end} */
    static long begin(String kind, String name) {
        return ON ? NvtxRanges.start(("tenon::" + kind + " " + name).strip()) : 0;
    }

    static void end(long range) {
        if (ON) {
            NvtxRanges.end(range);
        }
    }
}
