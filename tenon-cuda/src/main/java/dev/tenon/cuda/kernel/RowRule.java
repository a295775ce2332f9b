package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.DType;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;

/**
 * What is done along rows: the families that share the row skeletons. The command line names them, so they hold no
 * catalog.
 */
public enum RowRule {
    SOFTMAX("softmax", 2, false, false),
    LOG_SOFTMAX("softmax", 2, false, false),
    LAYER_NORM("layernorm", 4, true, true),
    RMS_NORM("rmsnorm", 1, true, false);

    final String prefix;
    final boolean gamma;
    final boolean beta;
    private final int stateFields;

    RowRule(String prefix, int stateFields, boolean gamma, boolean beta) {
        this.prefix = prefix;
        this.stateFields = stateFields;
        this.gamma = gamma;
        this.beta = beta;
    }

    KernelFile warp() {
        return switch (this) {
            case SOFTMAX, LOG_SOFTMAX -> KernelCatalog.SOFTMAX_WARP;
            case LAYER_NORM -> KernelCatalog.LAYERNORM_WARP;
            case RMS_NORM -> KernelCatalog.RMSNORM_WARP;
        };
    }

    KernelFile team() {
        return switch (this) {
            case SOFTMAX, LOG_SOFTMAX -> KernelCatalog.SOFTMAX_TEAM;
            case LAYER_NORM -> KernelCatalog.LAYERNORM_TEAM;
            case RMS_NORM -> KernelCatalog.RMSNORM_TEAM;
        };
    }

    KernelFile block() {
        return switch (this) {
            case SOFTMAX, LOG_SOFTMAX -> KernelCatalog.SOFTMAX_BLOCK;
            case LAYER_NORM -> KernelCatalog.LAYERNORM_BLOCK;
            case RMS_NORM -> KernelCatalog.RMSNORM_BLOCK;
        };
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
    static int residentBlocks(DType dtype) {
        return dtype == DType.F64 ? 1 : 2;
    }
}
