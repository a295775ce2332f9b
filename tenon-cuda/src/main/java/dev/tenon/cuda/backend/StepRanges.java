package dev.tenon.cuda.backend;

import dev.tenon.core.ir.Node;
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

    /** Begins the range of a step; {@link #end} ends it. */
    static long begin(Node node) {
        return ON ? NvtxRanges.start(("tenon::" + node.op().mnemonic() + " " + node.name()).strip()) : 0;
    }

    /** Begins the range of a launch of recorded work; {@link #end} ends it. */
    static long beginReplay() {
        return ON ? NvtxRanges.start("tenon::replay") : 0;
    }

    static void end(long range) {
        if (ON) {
            NvtxRanges.end(range);
        }
    }
}
