package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;

/** What is done along rows: the families that share the row skeletons. */
public enum RowRule {
    SOFTMAX(KernelCatalog.SOFTMAX_WARP, KernelCatalog.SOFTMAX_BLOCK, "softmax", 2, false, false),
    LOG_SOFTMAX(KernelCatalog.SOFTMAX_WARP, KernelCatalog.SOFTMAX_BLOCK, "softmax", 2, false, false),
    LAYER_NORM(KernelCatalog.LAYERNORM_WARP, KernelCatalog.LAYERNORM_BLOCK, "layernorm", 3, true, true),
    RMS_NORM(KernelCatalog.RMSNORM_WARP, KernelCatalog.RMSNORM_BLOCK, "rmsnorm", 1, true, false);

    @SuppressWarnings("ImmutableEnumChecker") // records of copied lists
    final KernelFile warp;

    @SuppressWarnings("ImmutableEnumChecker")
    final KernelFile block;

    final String prefix;
    final boolean gamma;
    final boolean beta;
    private final int stateFields;

    RowRule(KernelFile warp, KernelFile block, String prefix, int stateFields, boolean gamma, boolean beta) {
        this.warp = warp;
        this.block = block;
        this.prefix = prefix;
        this.stateFields = stateFields;
        this.gamma = gamma;
        this.beta = beta;
    }

    KernelVariant variant(DType dtype) {
        return switch (this) {
            case SOFTMAX -> KernelCatalog.log(dtype, false);
            case LOG_SOFTMAX -> KernelCatalog.log(dtype, true);
            case LAYER_NORM, RMS_NORM -> KernelVariant.of(dtype);
        };
    }

    /** Bytes of what blocks tell one another about a row. */
    int stateBytes(DType dtype) {
        return stateFields * (dtype == DType.F64 ? 8 : 4);
    }

    /** Blocks of 512 threads that the registers of a multiprocessor hold (RESIDENT in the sources). */
    int residentBlocks(DType dtype) {
        return this == LAYER_NORM || this == RMS_NORM || dtype == DType.F64 ? 1 : 2;
    }
}
