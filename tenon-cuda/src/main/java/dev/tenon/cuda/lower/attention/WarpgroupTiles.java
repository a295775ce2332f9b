package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.AttentionCatalog.WarpgroupForm;
import dev.tenon.cuda.port.DeviceProperties;

/** Whether {@code attention_wgmma} takes a problem, before cuDNN or after it, and in how many blocks. */
record WarpgroupTiles(AttentionProblem problem, DeviceProperties device, boolean compilesSpecific) {
    private static final String NAME = "attention";
    private static final int CAPABILITY = 90;
    private static final int LEAST_SIZE = 33; // smaller heads would be padded to twice their size and more
    private static final int LEAST_KEYS = 257; // of two tiles or less a block has nothing to overlap
    private static final int LEAST_SIZE_BEFORE_LIBRARY = 97; // 64 elements: 2677 us, cuDNN and its check 2416 (H200)
    private static final int LEAST_KEYS_BEFORE_LIBRARY = 512;

    /** Why it does not take the problem; empty where it does. */
    String refusal() {
        if (device.architecture().number() != CAPABILITY) {
            return "compute capability " + device.architecture() + " is not 9.0";
        }
        if (problem.dtype() != DType.F16 && problem.dtype() != DType.BF16) {
            return "it takes f16 and bf16, not " + problem.dtype();
        }
        if (!compilesSpecific) {
            return "no compiler for sm_90a";
        }
        int padded = AttentionCatalog.paddedForWarpgroups(problem.largestSize());
        if (padded == 0 || problem.largestSize() < LEAST_SIZE) {
            return "heads of " + problem.size() + " and " + problem.sizeV() + " elements; it takes " + LEAST_SIZE
                    + " to 128";
        }
        if (!problem.isPacked()) {
            return "heads do not start on 16-byte boundaries";
        }
        if (problem.queries() <= WarpgroupForm.QUERIES / 2 || problem.keys() < LEAST_KEYS) {
            return problem.queries() + " queries and " + problem.keys() + " keys; it takes more than "
                    + WarpgroupForm.QUERIES / 2 + " and at least " + LEAST_KEYS;
        }
        if (problem.batches() > 1 && problem.repeatsBatch()) {
            return "all batches have the same queries, keys or values";
        }
        return tiles(WarpgroupForm.QUERIES) > Integer.MAX_VALUE || problem.keys() > Integer.MAX_VALUE / 2
                ? tiles(WarpgroupForm.QUERIES) + " tiles or " + problem.keys() + " keys are more than 2^30"
                : "";
    }

    /** Whether cuDNN takes longer, with the launch behind it that causal ones need. */
    boolean areFasterThanLibrary() {
        return problem.causal()
                && problem.largestSize() >= LEAST_SIZE_BEFORE_LIBRARY
                && problem.keys() >= LEAST_KEYS_BEFORE_LIBRARY
                && refusal().isEmpty();
    }

    /** Blocks of the launch: causal tiles come in pairs where they are more than multiprocessors. */
    int blocks() {
        int most = device.multiprocessors();
        long tiles = tiles(WarpgroupForm.QUERIES);
        long items = problem.causal() && tiles > most ? tiles(2L * WarpgroupForm.QUERIES) : tiles;
        return (int) Math.min(items, most);
    }

    private long tiles(long queries) {
        return SizeMath.product(NAME, problem.batches(), problem.heads(), Math.ceilDiv(problem.queries(), queries));
    }
}
